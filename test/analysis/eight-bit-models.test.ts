// SPDX-License-Identifier: Apache-2.0
//
// Shipped detectors compute most convolutions in 8 bits on a CPU. GPUs have no such convolutions and run twins, whose
// computations the options for GPUs show on a CPU.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { checkAnswers, describeCheck, holds } from '../../src/analysis/known-answers/known-answers.js';
import { forGpu } from '../../src/analysis/models/gpu-twin.js';
import { checkManifest } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { sessionOptions } from '../../src/analysis/scoring/model-session.js';
import { InferenceSession } from '../../src/analysis/scoring/onnxruntime.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';

const modelsDir = path.join(packageDir, 'models');
const { models } = await loadManifest(modelsDir);
/** Operators of 8 bits, as the file names them. */
const inEightBits = /(?<![A-Za-z])(QuantizeLinear|DequantizeLinear|QLinear\w+|\w+Integer)(?![A-Za-z_])/;
const bytesOf = (file: string): string => fs.readFileSync(path.join(modelsDir, file), 'latin1');
const eightBit = models.filter(({ file }) => inEightBits.test(bytesOf(file)));

test('every shipped model of 8 bits has a twin for GPUs, and no other has one', () => {
  assert.ok(eightBit.length > 0);
  const withTwin = models.filter(({ gpu }) => gpu !== undefined);
  assert.deepEqual(
    withTwin.map(({ id }) => id),
    eightBit.map(({ id }) => id),
  );
});

test('a GPU is asked to compute all of a twin in float32', async (t) => {
  const folder = temporaryFolder(t);
  for (const { id, file } of eightBit.map(forGpu)) {
    const loaded = path.join(folder, `${id}.onnx`);
    const session = await InferenceSession.create(path.join(modelsDir, file), {
      ...sessionOptions({ provider: 'webgpu' }),
      executionProviders: ['cpu'],
      graphOptimizationLevel: 'extended',
      optimizedModelFilePath: loaded,
    });
    await session.release();
    const graph = fs.readFileSync(loaded, 'latin1');
    assert.doesNotMatch(graph, inEightBits, id);
    // The small networks on curves of the window use float32 in both.
    assert.ok(graph.length > 1.8 * bytesOf(file).length, `${id}: ${graph.length} bytes`);
  }
});

test('twins give their known answers, which are close to those of the files in 8 bits', async () => {
  const twins = eightBit.map(forGpu);
  const config = { ...testConfig, device: 'cpu', modelsDir } as const;
  const analyser = await startPipeline(config, new SharedArrayBuffer(0), { models: twins });
  try {
    const checks = await checkAnswers(analyser, modelsDir, twins);
    assert.deepEqual(checks.filter((check) => !holds(check)).map(describeCheck), []);
  } finally {
    await analyser.close();
  }
  for (const { id, known_answers = [], gpu } of eightBit) {
    const [ofFile, ofTwin] = [known_answers, gpu?.known_answers ?? []].map((answers) =>
      answers.flatMap((answer) => ('scores' in answer ? answer.scores : [])),
    ) as [number[], number[]];
    assert.ok(ofFile.length > 0 && ofFile.length === ofTwin.length, id);
    const largest = Math.max(...ofFile.map((score, i) => Math.abs(score - (ofTwin[i] as number))));
    assert.ok(largest < 0.03, `${id}: ${largest}`);
  }
});

test('a twin of a file that has been replaced since is refused', () => {
  const renewed = models.map((model) => ({ ...model, sha256: '0'.repeat(64) }));
  assert.throws(
    () => checkManifest('manifest.json', { version: 1, models: renewed }),
    /detector-.*\.gpu\.onnx was made from another detector-.*\.onnx\. Make it anew/,
  );
});
