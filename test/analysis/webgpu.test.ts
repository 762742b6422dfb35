// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime's WebGPU provider itself, on Vulkan in software.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkAnswers, describeCheck, holds } from '../../src/analysis/known-answers/known-answers.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { gpusHere, type Trial } from '../../src/analysis/scoring/gpus.js';
import { chooseProvider } from '../../src/analysis/scoring/provider.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli } from '../support/cli.js';
import { scoresOf } from '../support/scores-of.js';
import { losableSoftwareGpu, noGpu, setEnvironment, softwareGpu } from '../support/software-gpu.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDetectors, tinyEntry, writeManifest, writeTinyModels } from '../support/tiny-models.js';
import { startOnWebGpu } from '../support/webgpu-pipeline.js';

const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

function tinyTrial(t: TestContext): Trial {
  const file = path.join(writeTinyModels(temporaryFolder(t), 'high'), 'high.onnx');
  return { path: file, gpuPath: file };
}

test('without a Vulkan driver, or with a broken one, WebGPU says so', async (t) => {
  setEnvironment(t, noGpu);
  assert.deepEqual(await gpusHere.probeWebGpu(tinyTrial(t)), {
    problem: 'WebGPU could not be used: there is no Vulkan driver',
  });
});

test('software is named, is not measured and is never chosen by `auto`', async (t) => {
  setEnvironment(t, softwareGpu);
  const trial = tinyTrial(t);
  const gpus = { ...gpusHere, list: async () => undefined, mayExist: () => true };
  const { provider, fallbackReason } = await chooseProvider({ device: 'auto' }, trial, { gpus });
  assert.equal(provider, 'cpu');
  assert.match(fallbackReason ?? '', /; WebGPU finds only SwiftShader.*, which is software$/);
  const asked = await chooseProvider({ device: 'webgpu' }, trial, { gpus });
  assert.equal(asked.provider, 'webgpu');
  assert.equal(asked.adapter?.isSoftware, true);
});

test('an adapter that calls itself a GPU is measured, and not chosen by `auto` if it is slow', async (t) => {
  setEnvironment(t, losableSoftwareGpu(t, { isDiscrete: true }).env);
  const gpus = { ...gpusHere, list: async () => undefined, mayExist: () => true };
  // No GPU is faster than a billion threads of the CPU.
  const config = { device: 'auto', scoringThreads: 1e9 } as const;
  const { provider, fallbackReason } = await chooseProvider(config, tinyTrial(t), { gpus });
  assert.equal(provider, 'cpu');
  assert.match(fallbackReason ?? '', /; WebGPU on SwiftShader.* is only 0\.00 times as fast/);
});

test('doctor names the adapter, and says that it is software', async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    ...softwareGpu,
    VERAVOX_DEVICE: 'webgpu',
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'high'),
  };
  const { stdout } = await runCli(['doctor'], env);
  assert.match(stdout, /ok +device +webgpu \(SwiftShader.*, which is software: slower than the CPU\)/);
});

test('a GPU runs the twin of a model and is judged by its known answers', async (t) => {
  setEnvironment(t, softwareGpu);
  const folder = temporaryFolder(t);
  const { file, sha256 } = tinyEntry(folder, 'twin', 'high');
  const entry = tinyEntry(folder, 'apollo-4-5-2026-03-26', 'even');
  const clips = ['clip.flac'];
  for (const name of clips) fs.writeFileSync(path.join(folder, name), clip);
  const answered = (score: number) =>
    clips.map((name) => ({ file: name, scores: [score, score], tolerance: 1e-3 }));
  const gpu = {
    file,
    sha256,
    source_sha256: entry.sha256,
    known_answers: answered(tinyDetectors.high.score),
  };
  writeManifest(folder, [{ ...entry, gpu, known_answers: answered(tinyDetectors.even.score) }]);
  const { models } = await loadManifest(folder);
  const set = await startOnWebGpu(t, 'webgpu', folder);
  const checks = await checkAnswers(set.analyser, folder, models);
  await set.analyser.close();
  assert.equal(checks.length, 1);
  for (const check of checks) assert.ok(holds(check), describeCheck(check));
});

test('two sets of models, as during a reload, score on the one GPU at the same time', async (t) => {
  setEnvironment(t, softwareGpu);
  const sets = await Promise.all([startOnWebGpu(t, 'webgpu'), startOnWebGpu(t, 'webgpu')]);
  const scores = await Promise.all(
    sets.flatMap(({ analyser, arena }) => Array.from({ length: 3 }, () => scoresOf(analyser, arena, clip))),
  );
  for (const found of scores.flat(2)) assert.ok(Math.abs(found - 1 / (1 + Math.exp(-1))) < 1e-3, `${found}`);
  assert.ok(scores.every(({ length }) => length > 0));
  await Promise.all(sets.map(({ analyser }) => analyser.close()));
});
