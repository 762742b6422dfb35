// SPDX-License-Identifier: Apache-2.0
//
// The choice of GPUs: on a simulated machine, and finally on this one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import {
  cudaLibraryPath,
  type Gpus,
  gpusHere,
  listGpus,
  type WebGpuFinding,
} from '../../src/analysis/scoring/gpus.js';
import { sessionOptions } from '../../src/analysis/scoring/model-session.js';
import { chooseProvider, trialOf } from '../../src/analysis/scoring/provider.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const trial = { path: 'model', gpuPath: 'twin' };

/** A machine with these GPUs of NVIDIA, some of which CUDA cannot open. */
function machineWith(
  models: readonly string[] | undefined,
  broken: readonly number[] = [],
  webgpu: WebGpuFinding | undefined = undefined,
) {
  const probed: number[] = [];
  const gpus: Gpus = {
    list: async () => models,
    mayExist: () => webgpu !== undefined,
    probeWebGpu: async () => webgpu ?? { problem: 'WebGPU could not be used: there is no Vulkan driver' },
    async probe(_trial, index) {
      probed.push(index);
      return broken.includes(index) ? 'CUDA could not be used: out of memory' : undefined;
    },
  };
  return { gpus, probed };
}

const three = ['NVIDIA A', 'NVIDIA B', 'NVIDIA C'];

test('a GPU that is named and not there stops the start, and the message says which there are', async () => {
  const { gpus, probed } = machineWith(three);
  await assert.rejects(chooseProvider({ device: 'auto', cudaDevices: [0, 3] }, trial, { gpus }), {
    message:
      'VERAVOX_CUDA_DEVICES names 3, but this machine has these GPUs: 0 (NVIDIA A), 1 (NVIDIA B), 2 (NVIDIA C).',
  });
  assert.deepEqual(probed, []);
});

test('a GPU that is named and cannot be opened stops the start, also where `auto` would do without', async () => {
  for (const device of ['auto', 'cuda'] as const) {
    const { gpus } = machineWith(three, [1]);
    await assert.rejects(chooseProvider({ device, cudaDevices: [0, 1] }, trial, { gpus }), {
      message: 'VERAVOX_CUDA_DEVICES names 1, but CUDA could not be used: out of memory.',
    });
  }
});

test('`all` leaves out GPUs that cannot be opened; if none can be, `cuda` fails and `auto` takes the CPU', async () => {
  const { gpus } = machineWith(three, [1]);
  assert.deepEqual(await chooseProvider({ device: 'auto' }, trial, { gpus }), {
    provider: 'cuda',
    gpus: [0, 2],
    leftOut: ['GPU 1: CUDA could not be used: out of memory.'],
  });
  const broken = machineWith(['NVIDIA A'], [0]).gpus;
  await assert.rejects(chooseProvider({ device: 'cuda' }, trial, { gpus: broken }), /out of memory/);
  assert.deepEqual(await chooseProvider({ device: 'auto' }, trial, { gpus: broken }), {
    provider: 'cpu',
    fallbackReason:
      'CUDA could not be used: out of memory; WebGPU could not be used: there is no Vulkan driver',
  });
});

test('where nothing tells which GPUs there are, the first one is tried; `none` and the CPU try nothing', async () => {
  const { gpus, probed } = machineWith(undefined);
  const first = await chooseProvider({ device: 'auto' }, trial, { gpus });
  assert.deepEqual([first.gpus, probed], [[0], [0]]);
  for (const config of [{ device: 'auto', cudaDevices: 'none' }, { device: 'cpu' }] as const) {
    assert.deepEqual(await chooseProvider(config, trial, { gpus }), { provider: 'cpu' });
  }
  assert.deepEqual(probed, [0]);
});

const real = { name: 'Real', isSoftware: false };
const software = { name: 'Soft', isSoftware: true };

test('`auto` takes WebGPU only behind CUDA, and only a real GPU that is at least as fast as the CPU', async () => {
  const choose = (models: readonly string[] | undefined, broken: readonly number[], webgpu?: WebGpuFinding) =>
    chooseProvider({ device: 'auto' }, trial, { gpus: machineWith(models, broken, webgpu).gpus });
  const fast = { adapter: real, timesCpu: 1 };
  assert.equal((await choose(['NVIDIA A'], [], fast)).provider, 'cuda');
  assert.deepEqual(await choose(['NVIDIA A'], [0], fast), {
    provider: 'webgpu',
    adapter: real,
    leftOut: ['CUDA is not used: CUDA could not be used: out of memory.'],
  });
  assert.deepEqual(await choose(undefined, [0], fast), { provider: 'webgpu', adapter: real });
  for (const [finding, reason] of [
    [
      { adapter: real, timesCpu: 0.99 },
      /; WebGPU on Real is only 0\.99 times as fast as all threads of the CPU$/,
    ],
    // However fast it claims to be.
    [{ adapter: software, timesCpu: 100 }, /; WebGPU finds only Soft, which is software/],
    [{ adapter: real }, /; WebGPU on Real is only 0\.00 times/],
    [{ problem: 'broken' }, /; broken$/],
  ] as const) {
    const { provider, fallbackReason } = await choose(undefined, [0], finding);
    assert.equal(provider, 'cpu');
    assert.match(fallbackReason ?? '', reason);
  }
});

test('`webgpu` takes software, too, and fails if there is nothing; a second process has no GPU', async () => {
  const choose = (finding: WebGpuFinding | undefined, index = 0) =>
    chooseProvider({ device: 'webgpu' }, trial, {
      gpus: machineWith(undefined, [], finding).gpus,
      place: { index, processes: 2 },
    });
  assert.deepEqual(await choose({ adapter: software }), { provider: 'webgpu', adapter: software });
  await assert.rejects(choose(undefined), {
    message: 'VERAVOX_DEVICE is webgpu, but WebGPU could not be used: there is no Vulkan driver.',
  });
  await assert.rejects(choose({ adapter: real }, 1), /no GPU is left for this process: there is 1 GPU/);
});

test('several processes share the GPUs out: each has one owner, and a process without any says so', async () => {
  const { gpus, probed } = machineWith(three);
  const choiceOf = (device: 'auto' | 'cuda', index: number, processes: number) =>
    chooseProvider({ device }, trial, { gpus, place: { index, processes } });
  assert.deepEqual((await choiceOf('cuda', 0, 2)).gpus, [0, 2]);
  assert.deepEqual((await choiceOf('cuda', 1, 2)).gpus, [1]);
  assert.deepEqual(probed, [0, 2, 1]);
  const reason = /there are 3 GPUs for 4 processes \(VERAVOX_PROCESSES\), and each GPU belongs to one/;
  await assert.rejects(choiceOf('cuda', 3, 4), reason);
  const { provider, fallbackReason } = await choiceOf('auto', 3, 4);
  assert.equal(provider, 'cpu');
  assert.match(fallbackReason ?? '', reason);
});

function driverFolder(t: TestContext): string {
  const folder = temporaryFolder(t);
  for (const [place, model] of Object.entries({ '0000:41:00.0': 'NVIDIA B', '0000:01:00.0': 'NVIDIA A' })) {
    fs.mkdirSync(path.join(folder, place));
    fs.writeFileSync(path.join(folder, place, 'information'), `Model: \t\t ${model}\nIRQ:   \t\t 42\n`);
  }
  return folder;
}

test('GPUs are numbered by their place on the bus, without those that CUDA_VISIBLE_DEVICES hides', async (t) => {
  const folder = driverFolder(t);
  assert.deepEqual(await listGpus(folder, {}), ['NVIDIA A', 'NVIDIA B']);
  assert.deepEqual(await listGpus(folder, { CUDA_VISIBLE_DEVICES: '1' }), ['NVIDIA B']);
  assert.deepEqual(await listGpus(folder, { CUDA_VISIBLE_DEVICES: '1, 0,-1,2' }), ['NVIDIA B', 'NVIDIA A']);
  assert.deepEqual(await listGpus(folder, { CUDA_VISIBLE_DEVICES: 'GPU-1f0e' }), ['GPU-1f0e']);
  assert.deepEqual(await listGpus(folder, { CUDA_VISIBLE_DEVICES: '' }), []);
});

test('without the files of the driver, nvidia-smi says which GPUs there are; without both, nothing does', async (t) => {
  const folder = temporaryFolder(t);
  assert.equal(await listGpus(path.join(folder, 'missing'), { PATH: folder }), undefined);
  const command = path.join(folder, 'nvidia-smi');
  fs.writeFileSync(command, '#!/bin/sh\necho "NVIDIA A"\necho "NVIDIA B"\n', { mode: 0o755 });
  assert.deepEqual(await listGpus(path.join(folder, 'missing'), { PATH: folder }), ['NVIDIA A', 'NVIDIA B']);
});

test('a session gets the number of its GPU, and none on a CPU', () => {
  const { executionProviders } = sessionOptions({ provider: 'cuda', cudaIndex: 2 });
  assert.deepEqual(executionProviders, [{ name: 'cuda', deviceId: 2 }]);
  assert.deepEqual(sessionOptions({ provider: 'cpu' }).executionProviders, [{ name: 'cpu' }]);
});

test('a server that is told to use a GPU that is not there says so and does not start', async (t) => {
  const { status, stderr } = await runCli(['serve'], {
    PORT: '0',
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_DEVICE: 'cuda',
    VERAVOX_CUDA_DEVICES: '97',
  });
  assert.equal(status, 1);
  assert.match(stderr, /VERAVOX_CUDA_DEVICES names 97, but /);
});

test('the library of CUDA is looked for where the installed ONNX Runtime puts it: beside its binding', () => {
  const library = cudaLibraryPath();
  assert.ok(fs.existsSync(path.join(path.dirname(library), 'onnxruntime_binding.node')));
  const scripts = path.join(library, '../../../../../script');
  const { manifests } = createRequire(import.meta.url)(path.join(scripts, 'install-metadata.js'));
  assert.ok(`./${path.basename(library)}` in manifests['linux/x64:cuda12'], library);
});

test('doctor fails on a GPU that is not used', async (t) => {
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA A"\n', { mode: 0o755 });
  const env = {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_DEVICE: 'auto',
    PATH: `${folder}${path.delimiter}${process.env.PATH}`,
  };
  const { status, stdout } = await runCli(['doctor'], env);
  assert.equal(status, 1);
  assert.match(stdout, /failed +device +cpu, although there is a GPU \(NVIDIA A\): /);
  assert.match((await runCli(['doctor'], { ...env, VERAVOX_DEVICE: 'cpu' })).stdout, /ok +device +cpu\n/);
});

test('on a machine with a GPU, CUDA opens it', async (t) => {
  const modelsDir = path.join(packageDir, 'models');
  const { models } = await loadManifest(modelsDir);
  const found = await gpusHere.list();
  if (found === undefined) {
    t.skip('This machine has no NVIDIA GPU.');
    return;
  }
  const problem = await gpusHere.probe(trialOf(modelsDir, models[0] as Model), 0);
  if (/not installed/.test(problem ?? '')) t.skip(`There is a GPU (${found[0]}), but ${problem}.`);
  else assert.equal(problem, undefined);
});
