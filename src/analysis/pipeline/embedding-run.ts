// SPDX-License-Identifier: Apache-2.0
import type { VoiceEmbedding } from '../analyser/analyser.js';
import { type CollectedFile, FileRun } from './file-run.js';

const lengthOf = (vector: Float64Array): number => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));

/** A speaker model's output for a file: the mean direction of its windows' embeddings. */
export class EmbeddingRun extends FileRun<Float64Array, VoiceEmbedding> {
  protected override read(embedding: Float64Array): Float64Array | undefined {
    const length = lengthOf(embedding);
    // Zero has no direction, so like NaN it is not an answer.
    return Number.isFinite(length) && length > 0 ? embedding : undefined;
  }

  protected override resultOf(file: CollectedFile<Float64Array>): VoiceEmbedding {
    const { modelId, windows, summary, timesMs } = file;
    const { decodeMs, featuresMs, speechRatio, ...found } = summary;
    return {
      ...found,
      modelId,
      embedding: meanDirection(windows.flatMap((window) => window.outputs)),
      windows: windows.map(({ startS, endS }) => ({ startS, endS })),
      speechS: speechRatio * found.durationS,
      timesMs,
    };
  }
}

// Each vector has the same weight, whatever its length.
function meanDirection(vectors: readonly Float64Array[]): Float32Array | undefined {
  const [first] = vectors;
  if (first === undefined) return undefined;
  const sum = new Float64Array(first.length);
  for (const vector of vectors) {
    const length = lengthOf(vector);
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (vector[i] as number) / length;
  }
  const length = lengthOf(sum);
  return length > 0 ? Float32Array.from(sum, (x) => x / length) : undefined;
}
