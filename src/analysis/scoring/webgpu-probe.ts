// SPDX-License-Identifier: Apache-2.0
//
// Run as a process of its own: prints a WebGpuFinding, or exits with 1 and says on standard output why a session cannot be
// made. Standard error has lines of the libraries.
import { loadAddon } from '../../base/addon/addon.js';
import { GPU_BATCH_WINDOWS } from '../../base/config/engine-options.js';
import type { WebGpuFinding } from './gpus.js';
import { sessionOptions } from './model-session.js';
import { InferenceSession, Tensor } from './onnxruntime.js';

const LEAST_RUNS = 3;
const LEAST_TIME_MS = 500;

const [, , path = '', gpuPath = '', cpuThreads = '0'] = process.argv;

async function find(): Promise<WebGpuFinding> {
  const [adapter] = loadAddon().vulkanAdapters();
  if (adapter === undefined) return { problem: 'WebGPU could not be used: there is no Vulkan driver' };
  const session = await InferenceSession.create(gpuPath, sessionOptions({ provider: 'webgpu' }));
  try {
    // Software takes seconds for a window.
    if (Number(cpuThreads) === 0 || adapter.isSoftware) return { adapter };
    const cpu = await InferenceSession.create(path, sessionOptions({ provider: 'cpu' }));
    const cpuPerS = Number(cpuThreads) * (await inputsPerS(cpu, 1));
    await cpu.release();
    const alonePerS = await inputsPerS(session, 1);
    // A batch of a slow GPU takes minutes.
    const isHopeless = alonePerS * GPU_BATCH_WINDOWS < cpuPerS;
    return {
      adapter,
      timesCpu: (isHopeless ? alonePerS : await inputsPerS(session, GPU_BATCH_WINDOWS)) / cpuPerS,
    };
  } finally {
    await session.release();
  }
}

async function inputsPerS(session: InferenceSession, batch: number): Promise<number> {
  const [input] = session.inputMetadata;
  if (!input?.isTensor) throw new Error('The model has no tensor as its input.');
  const [ownBatch, ...axes] = input.shape;
  if (axes.some((size) => typeof size !== 'number'))
    throw new Error('The model leaves the size of its input open.');
  const size = typeof ownBatch === 'number' && ownBatch > 0 ? ownBatch : batch;
  const dims = [size, ...(axes as number[])];
  const data = new Float32Array(dims.reduce((product, n) => product * n)).map((_, i) => Math.sin(i));
  const feeds = { [input.name]: new Tensor('float32', data, dims) };
  // The first one compiles shaders.
  await session.run(feeds);
  const beginMs = performance.now();
  let runs = 0;
  while (runs < LEAST_RUNS || performance.now() - beginMs < LEAST_TIME_MS) {
    await session.run(feeds);
    runs++;
  }
  return (1000 * runs * size) / (performance.now() - beginMs);
}

try {
  process.stdout.write(JSON.stringify(await find()));
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
