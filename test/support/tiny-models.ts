// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { meanModel } from './onnx-file.js';

const WINDOW_SAMPLES = 80_000;

/**
 * Detectors whose score hardly depends on the audio, and so identifies the loaded file: the mean of the samples is a logit of
 * about 0, which `Exp` turns into 1.
 */
export const tinyDetectors = {
  even: { operators: [], score: 0.5 },
  high: { operators: ['Exp'], score: 1 / (1 + Math.exp(-1)) },
} as const;
export type TinyDetector = keyof typeof tinyDetectors;

/** The entry of a detector, whose file is written to `folder`. */
export function tinyEntry(folder: string, id: string, kind: TinyDetector): Record<string, unknown> {
  const file = meanModel([1, WINDOW_SAMPLES], 1, tinyDetectors[kind].operators);
  const name = `${kind}.onnx`;
  writeWhole(path.join(folder, name), file);
  return {
    id,
    aliases: [],
    task: 'detection',
    file: name,
    sha256: createHash('sha256').update(file).digest('hex'),
    licence: 'Apache-2.0',
    sample_rate_hz: 16000,
    window_samples: WINDOW_SAMPLES,
    hop_samples: WINDOW_SAMPLES,
    short_window: 'repeat',
    features: { kind: 'waveform', input_gain: 1, normalisation: 'none' },
    input: { name: 'features', shape: ['batch', 1, WINDOW_SAMPLES] },
    output: { name: 'embedding', kind: 'logit', index: 0 },
    calibration: { scale: 1, bias: 0 },
    operating_point: 0.5,
    metrics: {},
  };
}

/** Atomic: a server may be reading the file that it replaces. */
function writeWhole(file: string, content: string | Uint8Array): void {
  fs.writeFileSync(`${file}.tmp`, content);
  fs.renameSync(`${file}.tmp`, file);
}

/** Writes another manifest into `folder`. */
export function writeManifest(folder: string, models: readonly object[]): void {
  writeWhole(path.join(folder, 'manifest.json'), JSON.stringify({ version: 1, models }));
}

/** A folder with one tiny detector under the ids of the contract. */
export function writeTinyModels(folder: string, kind: TinyDetector): string {
  const ids = ['apollo-4-5-2026-03-26', 'apollo-4-2025-10-20'];
  writeManifest(
    folder,
    ids.map((id) => tinyEntry(folder, id, kind)),
  );
  return folder;
}
