// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from 'commander';
import { type DetectionModel, readManifest } from '../analysis/models/manifest.js';
import { detectorNamed } from '../analysis/pipeline/model-status.js';
import { readGeneratedSpeech } from '../analysis/profiles/generated-speech.js';
import {
  correctionFor,
  type HeardRecording,
  MIN_RECORDINGS,
  measuredWith,
  whyNotWorthwhile,
} from '../analysis/profiles/make-profile.js';
import { verdictOf } from '../analysis/verdict/verdict.js';
import { loadConfig } from '../base/config/load-config.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MIN_DURATION_S,
} from '../base/contract/limits.js';
import { defaultModel } from '../base/contract/model-ids.js';
import {
  OPERATING_POINT_NAME,
  OPERATING_POINT_NAME_EXPECTED,
} from '../base/contract/operating-point-name.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { wilsonInterval } from '../evaluation/figures/proportion.js';
import { ListPipeline } from '../evaluation/labelled-lists/list-pipeline.js';
import { localConfig, maxDurationS } from '../evaluation/labelled-lists/local-files.js';
import { withDatabase } from '../state/database/open-database.js';
import type { MeasuredErrors } from '../state/operating-points/operating-point.js';
import { OperatingPointTable } from '../state/operating-points/operating-point-table.js';
import type { ErrorsWithAndWithout, Profile } from '../state/operating-points/profile.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { reportFailure } from './failed-file.js';
import { namedInputs } from './named-inputs.js';
import { print, printJson, tell } from './output.js';
import { showListProgress } from './progress-line.js';
import { percent } from './report-words.js';
import { textTable } from './text-table.js';

interface MakeOptions {
  readonly generated?: string[];
  readonly model?: string;
}

export function addProfilesCommand(program: Command): void {
  const profiles = program
    .command('profiles')
    .description("Correct a detector's scores for your own channel, from recordings of it.");

  profiles
    .command('make')
    .argument('<name>', 'name of the profile in requests', parseName)
    .argument('<file...>', `${MIN_RECORDINGS} or more genuine recordings: files, folders or quoted patterns`)
    .description('Make a profile, and save it if recordings left out show a gain at a low cost.')
    .option('--generated <file...>', 'AI-generated recordings of the channel, which must not pass')
    .option('--model <id>', 'the detector, by its exact id or an alias (default: the best that is loaded)')
    .action(make);

  profiles
    .command('list')
    .description('List all profiles.')
    .option('--json', 'one line of JSON per profile')
    .action(async ({ json }: { json?: true }) => {
      const stored = await withProfiles((table) => table.profiles());
      if (json) for (const profile of stored) printJson(profile);
      else print(stored.length === 0 ? shown`No profiles.\n` : profileTable(stored));
    });

  profiles
    .command('show <name>')
    .description('Print the correction of a profile and what it was measured on, as JSON.')
    .action(async (name: string) => {
      const named = (await withProfiles((table) => table.profiles())).filter((each) => each.name === name);
      if (named.length === 0) throw new Error(`There is no profile ${name}.`);
      for (const profile of named) printJson(profile);
    });

  profiles
    .command('remove <name>')
    .description('Remove a profile for all models. Requests that name it are refused from then on.')
    .action(async (name: string) => {
      if ((await withProfiles((table) => table.removeProfiles(name))) === 0)
        throw new Error(`There is no profile ${name}.`);
      await noteAdminAct(loadConfig(process.env), { event: 'profile_removed', name });
      tell(shown`Removed ${name}.\n`);
    });
}

const withProfiles = <Result>(work: (table: OperatingPointTable) => Promise<Result>): Promise<Result> =>
  withDatabase(loadConfig(process.env), (database) => work(new OperatingPointTable(database)));

async function make(name: string, files: string[], options: MakeOptions): Promise<void> {
  const config = localConfig();
  const genuine = await filesOf(files);
  if (genuine.length < MIN_RECORDINGS) {
    throw new Error(
      `A profile needs at least ${MIN_RECORDINGS} genuine recordings, but received ${genuine.length}.`,
    );
  }
  const generated = await filesOf(options.generated ?? []);
  const pipeline = await ListPipeline.start(
    config,
    [...genuine, ...generated].map((file) => [file]),
  );
  try {
    const status = pipeline.analyser.status();
    const detector = detectorNamed(status, options.model ?? defaultModel(status.detectors));
    const { models } = await readManifest(config.modelsDir);
    const entry = models.find(
      (model): model is DetectionModel => model.task === 'detection' && model.id === detector.id,
    );
    if (entry === undefined) throw new Error(`${detector.id} is not in the manifest any more.`);
    const background = await readGeneratedSpeech(config.modelsDir, entry);
    const own = await hear(pipeline, detector.id, genuine);
    if (own.length < MIN_RECORDINGS) {
      throw new Error(
        `A profile needs at least ${MIN_RECORDINGS} genuine recordings with speech; ${own.length} have some.`,
      );
    }
    const ownGenerated = await hear(pipeline, detector.id, generated);
    const correction = correctionFor(own, background.vectors);
    const measured = measuredWith(correction, own, background, ownGenerated, wilsonInterval);
    const problem = whyNotWorthwhile(measured);
    print(described(measured));
    if (problem !== undefined) throw new Error(`The profile ${name} is not saved: ${problem}.`);
    const profile: Profile = {
      version: 1,
      name,
      model: detector.id,
      model_sha256: detector.sha256,
      fingerprint: detector.scoreFingerprint,
      correction,
      recordings: { genuine: own.length, generated: ownGenerated.length },
      measured,
      created_at: new Date().toISOString(),
    };
    await withProfiles((table) => table.saveProfile(profile));
    await noteAdminAct(config, { event: 'profile_made', name, model: detector.id });
    print(shown`Saved. Requests use it with profile=${name}, on running servers within a second.\n`);
  } finally {
    await pipeline.close();
  }
}

/** @throws Error for an argument without a file */
async function filesOf(given: readonly string[]): Promise<string[]> {
  const inputs = await namedInputs(given);
  const wrong = inputs.find(({ problem }) => problem !== undefined);
  if (wrong !== undefined) throw new Error(`${wrong.file}: ${wrong.problem}`);
  return inputs.map(({ file }) => file);
}

/** Recordings as the detector sees them; unreadable ones and those without speech are named and left out. */
async function hear(
  pipeline: ListPipeline,
  model: string,
  files: readonly string[],
): Promise<HeardRecording[]> {
  const found = await pipeline.analyse(
    files.map((file) => [file]),
    async (region) => {
      let sum: Float64Array | undefined;
      let count = 0;
      const analysis = await pipeline.analyser.analyse({
        region,
        model,
        silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
        minDurationS: MIN_DURATION_S,
        maxDurationS,
        signal: new AbortController().signal,
        adjustScore(score, vector) {
          count++;
          sum = Float64Array.from(vector, (value, i) => value + (sum?.[i] ?? 0));
          return score;
        },
      });
      const { score } = verdictOf(analysis, DEFAULT_THRESHOLD, DEFAULT_SILENCE_THRESHOLD_PERCENT);
      const vector = Float32Array.from(sum ?? [], (value) => value / count);
      return { result: { score, vector }, durationS: analysis.durationS };
    },
    showListProgress,
  );
  return found.flatMap((finding, i) => {
    if (finding.ok) return [finding.result];
    reportFailure(files[i] ?? '', finding.error, undefined);
    return [];
  });
}

const share = ({ value, count, of, interval_95: [low, high] }: MeasuredErrors): string =>
  `${percent(value)} (${count} of ${of}, 95 % interval ${percent(low)} to ${percent(high)})`;

const change = (what: string, errors: ErrorsWithAndWithout): Shown =>
  shown`${what}: ${share(errors.with)}, without it ${share(errors.without)}\n`;

const described = ({ flagged, passed, passed_own: own }: Profile['measured']): Shown =>
  joined([
    change('Genuine recordings called spoofed, each with a profile made without it', flagged),
    change('AI-generated speech of other systems called human', passed),
    own === null ? '' : change('Your AI-generated recordings called human', own),
  ]);

const profileTable = (profiles: readonly Profile[]): Shown =>
  textTable(
    [
      'Name',
      'Model',
      '>Recordings',
      '>Flagged without',
      '>Flagged with',
      '>Passed without',
      '>Passed with',
      'Made',
    ],
    profiles.map(({ name, model, recordings, measured: { flagged, passed }, created_at }) => [
      name,
      model,
      String(recordings.genuine),
      percent(flagged.without.value),
      percent(flagged.with.value),
      percent(passed.without.value),
      percent(passed.with.value),
      created_at.slice(0, 10),
    ]),
  );

function parseName(text: string): string {
  if (OPERATING_POINT_NAME.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${OPERATING_POINT_NAME_EXPECTED}, but received ${text}.`);
}
