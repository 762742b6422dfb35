// SPDX-License-Identifier: Apache-2.0
//
// The pipeline's measures of each clip of a list, and the scores of its windows by some detectors: the input of
// training/judge/calibrate_detector.py, calibrate_codecs.py and reasons.py.
//
//   npm run bench clip-measures -- LIST.csv --out MEASURES.csv --model ID [--model ID ..]
//
// The rows are those of the list, without clips that the pipeline refuses. Added columns: duration_s, speech_s,
// clipped_ratio, high_band_drop_db and noise_gap_db (empty if unknown), codec (empty if not coded, or lossless),
// coded_bits_per_s (with a codec: one number per window, joined by spaces), and for each detector `scores ID` (windows joined
// by spaces, the inputs of one by `|`).
//
// The scores lack the offsets of `calibration.codecs`, whatever the manifest says, so that offsets can be fitted to them: for
// a window, logit(score) + offset is the logit of the server's score.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Analysis } from '../src/analysis/analyser/analyser.js';
import { type Model, readManifest } from '../src/analysis/models/manifest.js';
import { loadConfig } from '../src/base/config/load-config.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, MIN_DURATION_S } from '../src/base/contract/limits.js';
import { ListPipeline } from '../src/evaluation/labelled-lists/list-pipeline.js';
import { benchArguments, wrongUsage } from './support/arguments.js';

const usage = 'npm run bench clip-measures -- LIST.csv --out MEASURES.csv --model ID [--model ID ..]';

const { values, positionals } = benchArguments(usage, {
  allowPositionals: true,
  options: { out: { type: 'string' }, model: { type: 'string', multiple: true, default: [] } },
});
const [list] = positionals;
const { out, model: models } = values;
if (list === undefined || out === undefined || models.length === 0) {
  wrongUsage(usage, 'A list, --out and --model are needed.');
}

const rows: Record<string, string>[] = parse(readFileSync(list), { columns: true, bom: true });
const recordings = rows.map(({ path = '' }) => [resolve(dirname(list), path)]);
const config = loadConfig(process.env);

function withoutCodecs(model: Model): Model {
  if (model.task === 'speaker') return model;
  const { scale, bias } = model.calibration;
  return { ...model, calibration: { scale, bias } };
}

const manifest = await readManifest(config.modelsDir);
const pipeline = await ListPipeline.start(config, recordings, new Map(), {
  models: manifest.models.map(withoutCodecs),
});

function columnsOf(analysis: Analysis) {
  const { durationS, speechRatio, clippedRatio, highBandDropDb, noiseGapDb, windows } = analysis;
  const codec = windows[0]?.codec;
  return {
    duration_s: durationS.toFixed(3),
    speech_s: (speechRatio * durationS).toFixed(3),
    clipped_ratio: clippedRatio.toPrecision(4),
    high_band_drop_db: highBandDropDb ?? '',
    noise_gap_db: noiseGapDb ?? '',
    codec: codec ?? '',
    coded_bits_per_s:
      codec === undefined ? '' : windows.map(({ codedBitsPerS = 0 }) => Math.round(codedBitsPerS)).join(' '),
  };
}

const found = await pipeline.analyse(
  recordings,
  async (region) => {
    const analyses: Analysis[] = [];
    for (const model of models) {
      analyses.push(
        await pipeline.analyser.analyse({
          region,
          model,
          silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
          minDurationS: MIN_DURATION_S,
          maxDurationS: 600,
          signal: new AbortController().signal,
        }),
      );
    }
    const [first] = analyses as [Analysis];
    const scores = models.map((model, i): [string, string] => [
      `scores ${model}`,
      (analyses[i] as Analysis).windows.map((window) => window.scores.join('|')).join(' '),
    ]);
    return { result: { ...columnsOf(first), ...Object.fromEntries(scores) }, durationS: first.durationS };
  },
  () => ({ add: () => {}, clear: () => {} }),
);
await pipeline.close();

const measured = found.flatMap((finding, i) => (finding.ok ? [{ ...rows[i], ...finding.result }] : []));
const quoted = (value: unknown): string => `"${String(value).replaceAll('"', '""')}"`;
const lines = [Object.keys(measured[0] ?? {}), ...measured.map(Object.values)];
writeFileSync(out, lines.map((line) => `${line.map(quoted).join(',')}\n`).join(''));
console.log(`${measured.length} of ${rows.length} clips`);
