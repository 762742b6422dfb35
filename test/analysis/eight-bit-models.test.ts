// SPDX-License-Identifier: Apache-2.0
//
// Shipped detectors compute most convolutions in 8 bits on a CPU. CUDA has no such convolutions and must take the same
// numbers as float32, which the options for CUDA show on a CPU.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { DetectionModel } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { inputShapeOf, inputSizeOf } from '../../src/analysis/models/model-sizes.js';
import type { Provider } from '../../src/analysis/scoring/devices.js';
import { sessionOptions } from '../../src/analysis/scoring/model-session.js';
import { InferenceSession, Tensor } from '../../src/analysis/scoring/onnxruntime.js';
import { toProbability } from '../../src/analysis/scoring/score.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const modelsDir = path.join(packageDir, 'models');
const detectors = (await loadManifest(modelsDir)).models.filter((model) => model.task === 'detection');

/**
 * Runs on the CPU with the options for `provider`: the score of a made-up input, and the size of the constants computed while
 * loading.
 */
async function asFor(provider: Provider, model: DetectionModel, folder: string) {
  const optimized = path.join(folder, `${model.id}-${provider}.onnx`);
  const session = await InferenceSession.create(path.join(modelsDir, model.file), {
    ...sessionOptions({ provider }),
    executionProviders: ['cpu'],
    optimizedModelFilePath: optimized,
    logSeverityLevel: 3,
  });
  // Mean 0 and variance 1, like normalised features, with slow changes.
  const data = Float32Array.from(
    { length: inputSizeOf(model) },
    (_, i) => Math.SQRT2 * Math.sin(i * 0.37 + (i / 498) * 0.11),
  );
  const feeds = { [model.input.name]: new Tensor('float32', data, [1, ...inputShapeOf(model)]) };
  const output = (await session.run(feeds))[model.output.name] as Tensor;
  await session.release();
  return { score: toProbability(output.data as Float32Array, model), bytes: fs.statSync(optimized).size };
}

test('what CUDA is asked to compute has the weights in float32, and says the same', async (t) => {
  const folder = temporaryFolder(t);
  for (const model of detectors) {
    const cpu = await asFor('cpu', model, folder);
    const cuda = await asFor('cuda', model, folder);
    // The small networks on curves of the window use float32 in both.
    assert.ok(cuda.bytes > 1.8 * cpu.bytes, `${model.id}: ${cuda.bytes} and ${cpu.bytes} bytes`);
    assert.ok(Math.abs(cpu.score - cuda.score) < 0.003, `${model.id}: ${cpu.score} and ${cuda.score}`);
  }
});
