// SPDX-License-Identifier: Apache-2.0
//
// Shipped detectors compute most convolutions in 8 bits on a CPU. CUDA has no such convolutions and is asked to take the same
// numbers as float32, which shows on a CPU with the options that CUDA gets.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { packageDir } from '../src/config/package-dir.js';
import { loadManifest } from '../src/models/manifest.js';
import { inputShapeOf, inputSizeOf } from '../src/models/model-sizes.js';
import { sessionOptions } from '../src/scoring/model-session.js';
import { temporaryFolder } from './support/temporary-folder.js';

const modelsDir = path.join(packageDir, 'models');
const detectors = (await loadManifest(modelsDir)).models.filter(({ task }) => task === 'detection');

test('what CUDA is asked to compute has the weights in float32, and says the same', async (t) => {
  const folder = temporaryFolder(t);
  for (const model of detectors) {
    const file = path.join(modelsDir, model.file);
    const [inEightBits, asForCuda] = await Promise.all(
      (['cpu', 'cuda'] as const).map((provider) =>
        InferenceSession.create(file, {
          ...sessionOptions(provider),
          executionProviders: ['cpu'],
          optimizedModelFilePath: path.join(folder, `${model.id}-${provider}.onnx`),
          logSeverityLevel: 3,
        }),
      ),
    );
    t.after(() => Promise.all([inEightBits?.release(), asForCuda?.release()]));
    const sizeFor = (provider: string) => fs.statSync(path.join(folder, `${model.id}-${provider}.onnx`)).size;
    assert.ok(
      sizeFor('cuda') > 2.5 * sizeFor('cpu'),
      `${model.id}: ${sizeFor('cuda')} and ${sizeFor('cpu')} bytes`,
    );

    const size = inputSizeOf(model);
    // As in normalised features: mean 0 and variance 1, with slow changes.
    const data = Float32Array.from(
      { length: size },
      (_, i) => Math.SQRT2 * Math.sin(i * 0.37 + (i / 498) * 0.11),
    );
    const feeds = { [model.input.name]: new Tensor('float32', data, [1, ...inputShapeOf(model)]) };
    const scoreOf = async (session: InferenceSession | undefined) => {
      const output = (await session?.run(feeds))?.[model.output.name]?.data[0] as number;
      return 1 / (1 + Math.exp(-output));
    };
    const [score, scoreForCuda] = [await scoreOf(inEightBits), await scoreOf(asForCuda)];
    assert.ok(Math.abs(score - scoreForCuda) < 0.003, `${model.id}: ${score} and ${scoreForCuda}`);
  }
});
