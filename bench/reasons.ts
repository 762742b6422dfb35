// SPDX-License-Identifier: Apache-2.0
//
// How often clips of a corpus with a bandwidth of 8 kHz are called `band_limited` and `low_snr` after telephones, codecs
// and noise: the figures of docs/reasons.md.
//
//   VERAVOX_CORPUS=FOLDER npm run bench reasons [-- --clips 130 --per-source 3 --seed 1]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BAND_LIMITED_FROM_DB, LOW_SNR_BELOW_DB } from '../src/analysis/verdict/reasons.js';
import { loadAddon, type PrepareSummary } from '../src/base/addon/addon.js';
import { ffmpegInto, noise, powerOf, withNoise } from '../test/support/recordings.js';
import { monoWav } from '../test/support/wav.js';
import { waveformPreparer } from '../test/support/waveform-preparer.js';
import { readIndex } from './support/corpus-index.js';
import { describeMachine } from './support/machine.js';
import { randomOf, shuffled } from './support/voiceid-trials.js';

const RATE_HZ = 16_000;
const MIN_S = 3;
const MAX_S = 10;
/** Less speech leaves too much unknown. */
const MIN_SPEECH_S = 2;

const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: '130' },
    'per-source': { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});
const corpus = process.env.VERAVOX_CORPUS;
if (corpus === undefined) throw new Error('Set VERAVOX_CORPUS to a folder as in docs/corpus.md.');
const random = randomOf(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));

/** Clips whose source had more than telephone bandwidth, few of each source, human and generated. */
function chooseClips(): string[] {
  const bySource = new Map<string, string[]>();
  for (const { path = '', label, source, original_rate, duration_s } of readIndex(corpus as string)) {
    // The index may lack the rate.
    if (!(Number(original_rate) >= RATE_HZ) || !(Number(duration_s) >= MIN_S)) continue;
    const name = `${label} ${source}`;
    bySource.set(name, [...(bySource.get(name) ?? []), path]);
  }
  const some = [...bySource.values()].flatMap((paths) =>
    shuffled(paths, random).slice(0, Number(values['per-source'])),
  );
  return shuffled(some, random).slice(0, Number(values.clips));
}

const ffmpeg = ffmpegInto(folder);

type Steps = readonly (readonly string[])[];
const through =
  (...steps: Steps) =>
  (clip: string): Uint8Array =>
    readFileSync(steps.reduce(ffmpeg, clip));

/** Noise under a clip; `pole` of a low-pass colours it. */
function noisy(snrDb: number, pole: number) {
  return (clip: string): Uint8Array => {
    const { samples } = loadAddon().decode(readFileSync(clip));
    const hiss = noise(samples.length, pole, random);
    // Excludes the clip's own pauses.
    const peak = peakOf(samples);
    const loud = samples.filter((x) => Math.abs(x) > 0.02 * peak);
    return monoWav(withNoise(samples, hiss, snrDb, powerOf(loud)), RATE_HZ);
  };
}

const peakOf = (samples: Float32Array): number => samples.reduce((peak, x) => Math.max(peak, Math.abs(x)), 0);

const conditions: readonly [what: string, make: (clip: string) => Uint8Array][] = [
  ['as it is', through(['a.wav'])],
  ['MP3 64 kbit/s', through(['-b:a', '64k', 'a.mp3'])],
  ['AAC 48 kbit/s', through(['-c:a', 'aac', '-b:a', '48k', 'a.m4a'])],
  ['AAC 24 kbit/s', through(['-c:a', 'aac', '-b:a', '24k', 'a.m4a'])],
  ['Opus 24 kbit/s', through(['-c:a', 'libopus', '-b:a', '24k', 'a.ogg'])],
  ['Opus 12 kbit/s', through(['-c:a', 'libopus', '-b:a', '12k', 'a.ogg'])],
  ['30 dB quieter', through(['-af', 'volume=-30dB', 'a.wav'])],
  ['11.025 kHz', through(['-ar', '11025', 'a.wav'])],
  ['8 kHz', through(['-ar', '8000', 'a.wav'])],
  ['G.711', through(['-ar', '8000', '-c:a', 'pcm_mulaw', 'a.wav'])],
  [
    'G.711, then MP3 128 kbit/s at 44.1 kHz',
    through(['-ar', '8000', '-c:a', 'pcm_mulaw', 'a.wav'], ['-ar', '44100', '-b:a', '128k', 'b.mp3']),
  ],
  [
    '8 kHz, then AAC 96 kbit/s at 44.1 kHz',
    through(['-ar', '8000', 'a.wav'], ['-ar', '44100', '-c:a', 'aac', '-b:a', '96k', 'b.m4a']),
  ],
  [
    'low-pass at 3.4 kHz, 48 dB per octave',
    through(['-af', Array(4).fill('lowpass=f=3400:p=2').join(','), 'a.wav']),
  ],
  ['8 kHz, 30 dB quieter', through(['-af', 'volume=-30dB', '-ar', '8000', 'a.wav'])],
  ['Opus 6 kbit/s', through(['-c:a', 'libopus', '-b:a', '6k', 'a.ogg'])],
  ...[20, 15, 10, 5, 0].flatMap((snrDb): [string, (clip: string) => Uint8Array][] => [
    [`white noise, SNR ${snrDb} dB`, noisy(snrDb, 0)],
    [`dull noise, SNR ${snrDb} dB`, noisy(snrDb, 0.8)],
  ]),
];

const preparer = waveformPreparer(RATE_HZ);
const input = new Float32Array(preparer.inputSize);

function summaryOf(file: Uint8Array): PrepareSummary {
  const options = { minDurationS: 1, maxDurationS: 60, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  preparer.open(file, options, new Int32Array(1));
  while (preparer.next(input) !== undefined);
  const summary = preparer.summary();
  preparer.close();
  return summary;
}

const percent = (count: number, of: number): number | null =>
  of === 0 ? null : Number(((100 * count) / of).toFixed(1));

const clips = chooseClips().map((path, i) =>
  ffmpeg(join(corpus, path), ['-t', String(MAX_S), '-ar', String(RATE_HZ), '-ac', '1', `clip-${i}.wav`]),
);
const rows = conditions.map(([condition, make]) => {
  const summaries = clips
    .map((clip) => summaryOf(make(clip)))
    .filter(({ speechRatio, durationS }) => speechRatio * durationS >= MIN_SPEECH_S);
  const drops = summaries.flatMap(({ highBandDropDb }) => highBandDropDb ?? []);
  const gaps = summaries.flatMap(({ noiseGapDb }) => noiseGapDb ?? []);
  const row = {
    condition,
    clips: summaries.length,
    bandLimitedPercent: percent(drops.filter((db) => db >= BAND_LIMITED_FROM_DB).length, drops.length),
    lowSnrPercent: percent(gaps.filter((db) => db < LOW_SNR_BELOW_DB).length, gaps.length),
  };
  console.log(JSON.stringify(row));
  return row;
});
rmSync(folder, { recursive: true });
const result = { machine: describeMachine(), seed: Number(values.seed), rows };
writeFileSync('bench/results/reasons.json', `${JSON.stringify(result, null, 2)}\n`);
