// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from 'commander';
import { generatedSpeechOf } from '../analysis/profiles/generated-speech.js';
import { hearRecording } from '../analysis/profiles/hear-recording.js';
import {
  addDistinct,
  type HeardRecording,
  makeProfile,
  whyNotWorthwhile,
} from '../analysis/profiles/make-profile.js';
import { loadConfig } from '../base/config/load-config.js';
import { MIN_PROFILE_RECORDINGS } from '../base/contract/limits.js';
import {
  OPERATING_POINT_NAME,
  OPERATING_POINT_NAME_EXPECTED,
} from '../base/contract/operating-point-name.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { ListPipeline } from '../evaluation/labelled-lists/list-pipeline.js';
import { localConfig, maxDurationS } from '../evaluation/labelled-lists/local-files.js';
import { withDatabase } from '../state/database/open-database.js';
import type { MeasuredErrors } from '../state/operating-points/operating-point.js';
import type { ErrorsWithAndWithout, Profile, ProfileVersion } from '../state/operating-points/profile.js';
import { ProfileTable } from '../state/operating-points/profile-table.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { reportFailure } from './failed-file.js';
import { localDetector } from './local-detector.js';
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
    .argument(
      '<file...>',
      `${MIN_PROFILE_RECORDINGS} or more genuine recordings: files, folders or quoted patterns`,
    )
    .description('Make a profile, and save it if held-out recordings show a gain at a low cost.')
    .option('--generated <file...>', 'AI-generated recordings of the channel, which must not pass')
    .option(
      '--model <id>',
      'detector, by its exact id or an alias (default: that of requests without a model)',
    )
    .action(make);

  profiles
    .command('list')
    .description('List all profiles.')
    .option('--json', 'one line of JSON per profile')
    .action(async ({ json }: { json?: true }) => {
      const all = await withProfiles((table) => table.usableBy());
      const stored = all.map(({ isInUse: _, ...profile }) => profile);
      if (json) for (const profile of stored) printJson(profile);
      else print(stored.length === 0 ? shown`No profiles.\n` : profileTable(stored));
    });

  profiles
    .command('show <name>')
    .description('Print each version of a profile as JSON, newest first.')
    .action(async (name: string) => {
      for (const { isInUse: in_use, ...profile } of await versionsOf(name)) printJson({ ...profile, in_use });
    });

  profiles
    .command('use')
    .argument('<name>', 'name of the profile')
    .argument('<version>', 'number of the version', parseVersion)
    .option('--model <id>', 'detector, by its exact id, if several have a profile of this name')
    .description('Go back to an earlier version of a profile, or forward again.')
    .action(async (name: string, version: number, options: { model?: string }) => {
      const models = [...new Set((await versionsOf(name)).map(({ model }) => model))];
      const model = options.model ?? models[0] ?? '';
      if (options.model === undefined && models.length > 1)
        throw new Error(`Expected --model, one of ${models.join(', ')}, which all have a profile ${name}.`);
      const versions = await withProfiles((table) => table.use(undefined, name, model, version));
      if (versions.length === 0)
        throw new Error(`There is no version ${version} of the profile ${name} of ${model}.`);
      await noteAdminAct(loadConfig(process.env), { event: 'profile_version_used', name, model, version });
      tell(shown`Requests with profile=${name} use version ${String(version)}.\n`);
    });

  profiles
    .command('remove <name>')
    .description('Remove a profile for all models. From then on, requests with its name are refused.')
    .action(async (name: string) => {
      const removed = await withProfiles((table) => table.remove(undefined, name));
      if (removed.length === 0) throw new Error(`There is no profile ${name}.`);
      await noteAdminAct(loadConfig(process.env), { event: 'profile_removed', name });
      tell(shown`Removed ${name}.\n`);
    });
}

const withProfiles = <Result>(work: (table: ProfileTable) => Promise<Result>): Promise<Result> =>
  withDatabase(loadConfig(process.env), (database) => work(new ProfileTable(database)));

/** Profiles for all accounts; those of an account are its own affair, over the API. */
const versionsOf = async (name: string): Promise<ProfileVersion[]> => {
  const named = await withProfiles((table) => table.versions(undefined, name));
  if (named.length === 0) throw new Error(`There is no profile ${name}.`);
  return named;
};

async function make(name: string, files: string[], options: MakeOptions): Promise<void> {
  const config = localConfig();
  const genuine = await filesOf(files);
  if (genuine.length < MIN_PROFILE_RECORDINGS) {
    throw new Error(
      `A profile needs at least ${MIN_PROFILE_RECORDINGS} genuine recordings, but received ${genuine.length}.`,
    );
  }
  const generated = await filesOf(options.generated ?? []);
  // Finds damage and tables of an earlier version now, before the result of a long run is lost.
  await withProfiles((table) => table.versions(undefined, name));
  const { detector, models } = await localDetector(config.modelsDir, options.model);
  const pipeline = await ListPipeline.start(
    config,
    [...genuine, ...generated].map((file) => [file]),
    new Map(),
    { models },
  );
  try {
    const background = await generatedSpeechOf(config.modelsDir, detector.id);
    const own = await hear(pipeline, detector.id, genuine);
    if (own.length < MIN_PROFILE_RECORDINGS) {
      throw new Error(
        `A profile needs at least ${MIN_PROFILE_RECORDINGS} different genuine recordings with speech; ${own.length} of ${genuine.length} can be used.`,
      );
    }
    const ownGenerated = await hear(pipeline, detector.id, generated);
    const profile = await makeProfile(name, detector, background, own, ownGenerated);
    const { measured } = profile;
    const problem = whyNotWorthwhile(measured);
    print(described(measured));
    if (problem !== undefined) throw new Error(`The profile ${name} is not saved: ${problem}.`);
    const [saved] = await withProfiles((table) => table.save(profile));
    const version = saved?.version;
    await noteAdminAct(config, { event: 'profile_made', name, model: detector.id, version });
    print(
      shown`Saved as version ${String(version)}. Requests use it with profile=${name}, on running servers within a second.\n`,
    );
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

/** Recordings as the detector sees them; unreadable ones, copies and those without speech are named and left out. */
async function hear(
  pipeline: ListPipeline,
  model: string,
  files: readonly string[],
): Promise<HeardRecording[]> {
  const found = await pipeline.analyse(
    files.map((file) => [file]),
    async (region) => {
      const { signal } = new AbortController();
      const { heard, analysis } = await hearRecording(pipeline.analyser, {
        region,
        model,
        maxDurationS,
        signal,
      });
      return { result: heard, durationS: analysis.durationS };
    },
    showListProgress,
  );
  const recordings: HeardRecording[] = [];
  for (const [i, finding] of found.entries()) {
    try {
      if (!finding.ok) throw finding.error;
      addDistinct(recordings, finding.result);
    } catch (error) {
      reportFailure(files[i] ?? '', error, undefined);
      // Like predict; a copy was analysed.
      if (!finding.ok) process.exitCode = 1;
    }
  }
  return recordings;
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
      '>Version',
      '>Recordings',
      '>Flagged without',
      '>Flagged with',
      '>Passed without',
      '>Passed with',
      'Made',
    ],
    profiles.map(({ name, model, version, recordings, measured: { flagged, passed }, created_at }) => [
      name,
      model,
      String(version),
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

function parseVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number from 1 on, but received ${text}.`);
}
