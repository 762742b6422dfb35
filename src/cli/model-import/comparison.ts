// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '../../analysis/models/manifest.js';
import { readModelFile } from '../../analysis/models/model-file.js';
import { checkGraph } from '../../analysis/scoring/graph-check.js';
import { createSession } from '../../analysis/scoring/model-session.js';
import { Tensor } from '../../analysis/scoring/onnxruntime.js';
import type { ConversionReport } from './conversion.js';

/** Logits of the same window may differ by this from PyTorch's in float32. */
export const tolerances = { float32: 1e-3, float16: 0.1 } as const;

/**
 * The largest distance of the logits that the server's own runtime gives from PyTorch's, over the windows that Python
 * tried.
 * @throws Error when the files cannot be served at all
 */
export async function largestDifference(
  folder: string,
  model: Model,
  { window_samples, logits }: ConversionReport,
): Promise<number> {
  const bytes = await readFile(join(folder, 'inputs.f32'));
  const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  if (samples.length !== logits.length * window_samples || logits.length === 0) {
    throw new Error('The conversion wrote inputs and answers that do not belong together.');
  }
  const { source } = await readModelFile(folder, model);
  const session = await createSession(source, model, { provider: 'cpu' });
  try {
    checkGraph(model, session.inputMetadata, session.outputMetadata);
    let largest = 0;
    for (const [index, expected] of logits.entries()) {
      const window = samples.slice(index * window_samples, (index + 1) * window_samples);
      const input = new Tensor('float32', window, [1, window_samples]);
      const outputs = await session.run({ [model.input.name]: input }, [model.output.name]);
      const found = (outputs[model.output.name] as Tensor).data as Float32Array;
      largest = Math.max(largest, ...expected.map((logit, i) => Math.abs(logit - Number(found[i]))));
    }
    return largest;
  } finally {
    await session.release();
  }
}
