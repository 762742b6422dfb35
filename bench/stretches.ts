// SPDX-License-Identifier: Apache-2.0
//
// How well stretches of AI-generated speech are found in human recordings: the figures of docs/detectors.md.
//
//   npm run bench stretches -- LIST.csv [--part judging] [--model ID] [--seed 38]
//
// The list has the columns path, label, source, speaker, category and system, for --part also part. Human clips become recordings
// of three minutes; each is analysed as it is, with a sentence of a generator of 1, 2, 3 and 5 s, and with one of another person.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { startPipeline } from '../src/analysis/pipeline/pipeline.js';
import { type Contrast, findContrasts } from '../src/analysis/stretches/contrasts.js';
import { loadConfig } from '../src/base/config/load-config.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, MIN_DURATION_S } from '../src/base/contract/limits.js';
import { defaultModel } from '../src/base/contract/model-ids.js';
import { FileArena } from '../src/evaluation/labelled-lists/file-arena.js';
import { monoWav } from '../test/support/wav.js';
import { benchArguments, wrongUsage } from './support/arguments.js';
import { describeMachine } from './support/machine.js';
import {
  type Clip,
  type Host,
  hostsOf,
  inTurn,
  type ListedClip,
  RATE_HZ,
  type Splice,
  sentenceOf,
  soundOf,
  spliced,
} from './support/spliced-recordings.js';
import { randomOf } from './support/voiceid-trials.js';

const usage = 'npm run bench stretches -- LIST.csv [--part judging] [--model ID] [--seed 38]';
const LENGTHS_S = [1, 2, 3, 5];
/** Of a sentence of another person. */
const OTHER_PERSON_S = 5;
/** A stretch that touches the sentence within this has found it. */
const NEAR_S = 1;
const ARENA_BYTES = 64 << 20;

const { values, positionals } = benchArguments(usage, {
  allowPositionals: true,
  options: { part: { type: 'string' }, model: { type: 'string' }, seed: { type: 'string', default: '38' } },
});
const [list] = positionals;
if (list === undefined) wrongUsage(usage, 'A list is needed.');
const random = randomOf(Number(values.seed));

const rows: (ListedClip & { readonly part?: string })[] = parse(readFileSync(list), {
  columns: true,
  bom: true,
});
const clips = rows
  .filter(({ part }) => values.part === undefined || part === values.part)
  .flatMap((row): Clip[] => {
    const samples = soundOf(resolve(dirname(list), row.path));
    return samples === undefined ? [] : [{ ...row, samples }];
  });
const human = clips.filter(({ label }) => label === 'bonafide');
const hosts = hostsOf(human);
const generated = inTurn(
  clips.filter(({ label }) => label === 'spoof'),
  random,
);
const people = inTurn(human, random);

const arena = new FileArena(ARENA_BYTES);
const analyser = await startPipeline(loadConfig(process.env), arena.buffer);
const model = values.model ?? defaultModel(analyser.status().detectors);

interface Look {
  readonly contrasts: readonly Contrast[];
  readonly windows: number;
  readonly closerWindows: number;
}

async function lookAt(samples: Float32Array): Promise<Look> {
  const file = monoWav(samples, RATE_HZ);
  const analysis = await arena.use(file.length, (region, content) => {
    content.set(file);
    return analyser.analyse({
      region,
      model,
      silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      minDurationS: MIN_DURATION_S,
      maxDurationS: 600,
      signal: new AbortController().signal,
    });
  });
  return {
    contrasts: findContrasts(analysis),
    windows: analysis.windows.length,
    closerWindows: analysis.closerWindows?.length ?? 0,
  };
}

/** The stretch that lies nearest to the sentence, if it touches it. */
function foundIn({ contrasts }: Look, { startS, endS }: Splice): Contrast | undefined {
  return contrasts
    .filter((contrast) => contrast.startS < endS + NEAR_S && contrast.endS > startS - NEAR_S)
    .sort((a, b) => distance(a, startS, endS) - distance(b, startS, endS))[0];
}

const distance = (contrast: Contrast, startS: number, endS: number): number =>
  Math.abs(contrast.startS - startS) + Math.abs(contrast.endS - endS);

/** @param wanted asks for a clip that fits */
function splicedWith(host: Host, clips: Iterator<Clip>, lengthS: number, wanted: (clip: Clip) => boolean) {
  for (;;) {
    const clip = clips.next().value as Clip;
    const sentence = wanted(clip) ? sentenceOf(clip, lengthS, random) : undefined;
    if (sentence !== undefined) return spliced(host, sentence, lengthS, random);
  }
}

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
const median = (all: readonly number[]): number | null => {
  const middle = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
  return middle === undefined ? null : round(middle);
};

const clean: (Look & Host)[] = [];
for (const host of hosts) clean.push({ ...host, ...(await lookAt(host.samples)) });
const hoursOf = (some: typeof clean): number =>
  some.reduce((sum, { samples }) => sum + samples.length / RATE_HZ / 3600, 0);
const stretchesIn = (some: typeof clean): number =>
  some.reduce((sum, { contrasts }) => sum + contrasts.length, 0);
const isOfOneSource = ({ sources }: Pick<Host, 'sources'>): boolean => sources.size === 1;
type Kind = readonly [name: string, has: (host: Pick<Host, 'category' | 'sources'>) => boolean];
const kinds: readonly Kind[] = [
  ['all', () => true],
  ['joined from one source', isOfOneSource],
  ['joined from several sources', (host) => !isOfOneSource(host)],
  ...[...new Set(hosts.map(({ category }) => category))].map(
    (name): Kind => [name, ({ category }) => category === name],
  ),
];
const falseRows = kinds.map(([kind, has]) => {
  const some = clean.filter(has);
  return {
    kind,
    recordings: some.length,
    hours: round(hoursOf(some)),
    stretches: stretchesIn(some),
    perHour: round(stretchesIn(some) / hoursOf(some)),
    recordingsWithStretches: some.filter(({ contrasts }) => contrasts.length > 0).length,
  };
});
console.table(falseRows);

const recallRows = [];
for (const lengthS of LENGTHS_S) {
  const errorsS: number[] = [];
  let found = 0;
  let foundOfOneSource = 0;
  for (const host of hosts) {
    const splice = splicedWith(host, generated, lengthS, () => true);
    const contrast = foundIn(await lookAt(splice.samples), splice);
    if (contrast === undefined) continue;
    found++;
    if (isOfOneSource(host)) foundOfOneSource++;
    errorsS.push(Math.abs(contrast.startS - splice.startS), Math.abs(contrast.endS - splice.endS));
  }
  recallRows.push({
    lengthS,
    recordings: hosts.length,
    found,
    ofOneSource: hosts.filter(isOfOneSource).length,
    foundOfOneSource,
    medianErrorOfBoundariesS: median(errorsS),
  });
}
console.table(recallRows);

let accused = 0;
for (const host of hosts) {
  const splice = splicedWith(host, people, OTHER_PERSON_S, ({ source }) => !host.sources.has(source));
  if (foundIn(await lookAt(splice.samples), splice) !== undefined) accused++;
}
await analyser.close();

const sum = (what: 'windows' | 'closerWindows'): number => clean.reduce((all, each) => all + each[what], 0);
const result = {
  machine: describeMachine(),
  model,
  seed: Number(values.seed),
  withoutGeneratedSpeech: falseRows,
  sentencesOfGenerators: recallRows,
  sentencesOfOtherPeople: { lengthS: OTHER_PERSON_S, recordings: hosts.length, found: accused },
  moreWindowsPercent: round((100 * sum('closerWindows')) / sum('windows'), 1),
};
console.log(result);
writeFileSync('bench/results/stretches.json', `${JSON.stringify(result, null, 2)}\n`);
