// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import type { VulkanAdapter } from '../../base/addon/addon.js';
import type { CudaDevices } from '../../base/config/cuda-devices.js';
import type { Config } from '../../base/config/options.js';
import type { ProcessPlace } from '../../base/config/process-place.js';
import { forGpu } from '../models/gpu-twin.js';
import type { Model } from '../models/manifest.js';
import type { Provider } from './devices.js';
import { type Gpus, gpusHere, type Trial, type WebGpuFinding } from './gpus.js';

export interface ProviderChoice {
  readonly provider: Provider;
  /** With CUDA, the numbers of the GPUs that this process owns. */
  readonly gpus?: readonly number[];
  /** With WebGPU, its Vulkan adapter. */
  readonly adapter?: VulkanAdapter;
  /** GPUs that CUDA should have used and cannot open, a sentence each. */
  readonly leftOut?: readonly string[];
  /** Why `auto` gave no GPU; absent if it did or was not asked for. */
  readonly fallbackReason?: string;
}

/** Only the choice, of something that has more. */
export function choiceIn({
  provider,
  gpus,
  adapter,
  leftOut,
  fallbackReason,
}: ProviderChoice): ProviderChoice {
  return {
    provider,
    ...(gpus && { gpus }),
    ...(adapter && { adapter }),
    ...(leftOut && { leftOut }),
    ...(fallbackReason !== undefined && { fallbackReason }),
  };
}

/** A model of the folder to try GPUs with. */
export const trialOf = (modelsDir: string, model: Model): Trial => ({
  path: join(modelsDir, model.file),
  gpuPath: join(modelsDir, forGpu(model).file),
});

interface Surroundings {
  /** Among several processes, which share the GPUs out. */
  readonly place?: ProcessPlace | undefined;
  readonly gpus?: Gpus;
}

/**
 * `auto` takes WebGPU if its speed is at least this multiple of that of all threads of the CPU together. The whole server
 * gains more than the models, since the CPU has only features left: twice as many requests where the models gain a third.
 */
const LEAST_TIMES_CPU = 1;

// CUDA would put the fastest first, other than nvidia-smi and the driver's files.
process.env.CUDA_DEVICE_ORDER ??= 'PCI_BUS_ID';

type Settings = Pick<Config, 'device'> & Partial<Pick<Config, 'cudaDevices' | 'scoringThreads'>>;

/**
 * Chooses the models' provider. `auto` falls back to WebGPU and then to the CPU, and says why.
 * @throws Error naming the missing part if `cuda`, `webgpu`, or a GPU that was named, cannot be used
 */
export async function chooseProvider(
  { device, cudaDevices = 'all', scoringThreads = 1 }: Settings,
  trial: Trial,
  { place, gpus = gpusHere }: Surroundings = {},
): Promise<ProviderChoice> {
  if (device === 'cpu' || cudaDevices === 'none') return { provider: 'cpu' };
  if (device === 'webgpu') {
    const found = await findWebGpu(trial, gpus, place);
    if ('problem' in found) throw new Error(`VERAVOX_DEVICE is webgpu, but ${found.problem}.`);
    return { provider: 'webgpu', adapter: found.adapter };
  }
  const models = await gpus.list();
  const choice = await chooseCuda(cudaDevices, trial, { place, gpus }, models);
  if (choice.provider === 'cuda') return choice;
  if (device === 'cuda') throw new Error(`VERAVOX_DEVICE is cuda, but ${choice.fallbackReason}.`);
  if (models === undefined && !gpus.mayExist()) return choice;
  const found = await findWebGpu(trial, gpus, place, scoringThreads);
  const problem = 'problem' in found ? found.problem : whyNotFaster(found);
  if ('problem' in found || problem !== undefined) {
    return { provider: 'cpu', fallbackReason: `${choice.fallbackReason}; ${problem}` };
  }
  const leftOut = models && [`CUDA is not used: ${choice.fallbackReason}.`];
  return { provider: 'webgpu', adapter: found.adapter, ...(leftOut && { leftOut }) };
}

/** @throws Error if a GPU that was named cannot be used */
async function chooseCuda(
  cudaDevices: CudaDevices,
  trial: Trial,
  { place, gpus }: Required<Surroundings>,
  models: readonly string[] | undefined,
): Promise<ProviderChoice> {
  const isNamed = typeof cudaDevices !== 'string';
  const wanted = isNamed ? cudaDevices : [...(models ?? ['unknown']).keys()];
  const missing = models && wanted.find((index) => index >= models.length);
  if (missing !== undefined) throw new Error(namesMissing(missing, models ?? []));
  // Each GPU has one owner.
  const own = place ? wanted.filter((_, at) => at % place.processes === place.index) : wanted;
  const problems = await Promise.all(own.map((index) => gpus.probe(trial, index)));
  const found = own.map((index, at) => ({ index, problem: problems[at] }));
  const broken = found.filter(({ problem }) => problem !== undefined);
  if (isNamed && broken[0]) {
    throw new Error(`VERAVOX_CUDA_DEVICES names ${broken[0].index}, but ${broken[0].problem}.`);
  }
  const opened = found.filter(({ problem }) => problem === undefined).map(({ index }) => index);
  if (opened.length > 0) {
    const leftOut = broken.map(({ index, problem }) => `GPU ${index}: ${problem}.`);
    return { provider: 'cuda', gpus: opened, ...(leftOut.length > 0 && { leftOut }) };
  }
  const fallbackReason = broken[0]?.problem ?? noGpuLeft(wanted.length, place?.processes ?? 1);
  return { provider: 'cpu', fallbackReason };
}

/** WebGPU uses one GPU, whose owner is the first process. */
async function findWebGpu(
  trial: Trial,
  gpus: Gpus,
  place: ProcessPlace | undefined,
  cpuThreads?: number,
): Promise<WebGpuFinding> {
  if (place !== undefined && place.index > 0) return { problem: noGpuLeft(1, place.processes) };
  return gpus.probeWebGpu(trial, cpuThreads);
}

function whyNotFaster({
  adapter,
  timesCpu = 0,
}: Exclude<WebGpuFinding, { problem: string }>): string | undefined {
  if (adapter.isSoftware) return `WebGPU finds only ${adapter.name}, which is software`;
  if (timesCpu >= LEAST_TIMES_CPU) return undefined;
  return `WebGPU on ${adapter.name} is only ${timesCpu.toFixed(2)} times as fast as all threads of the CPU`;
}

function namesMissing(index: number, models: readonly string[]): string {
  const there = models.map((model, i) => `${i} (${model})`).join(', ') || 'none';
  return `VERAVOX_CUDA_DEVICES names ${index}, but this machine has these GPUs: ${there}.`;
}

function noGpuLeft(gpus: number, processes: number): string {
  const has = gpus === 1 ? 'is 1 GPU' : `are ${gpus} GPUs`;
  return `no GPU is left for this process: there ${has} for ${processes} processes (VERAVOX_PROCESSES), and each GPU belongs to one`;
}
