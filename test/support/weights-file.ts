// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { meanModel } from './onnx-file.js';
import { tinyEntry } from './tiny-models.js';

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

const WINDOW_SAMPLES = 80_000;

/** The logit of a detector with this weight for any recording without an offset. */
export const scoreOf = (weight: number): number => 1 / (1 + Math.exp(-weight));

/** The entry of a detector whose only weight is in a separate file; its logit is that weight. */
export function entryWithWeights(folder: string, id: string, weight: number): Record<string, unknown> {
  const weights = Buffer.from(Float32Array.of(weight).buffer);
  const graph = meanModel([1, WINDOW_SAMPLES], 1, [], { weightFile: `${id}.onnx.data` });
  fs.writeFileSync(path.join(folder, `${id}.onnx`), graph);
  fs.writeFileSync(path.join(folder, `${id}.onnx.data`), weights);
  return {
    ...tinyEntry(folder, id, 'even'),
    file: `${id}.onnx`,
    sha256: sha256(graph),
    weights_file: `${id}.onnx.data`,
    weights_sha256: sha256(weights),
  };
}
