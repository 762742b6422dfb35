// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { ProcessPlace } from '../../base/config/process-place.js';
import type { Provider } from './devices.js';
import { type Gpus, gpusHere } from './gpus.js';

export interface ProviderChoice {
  readonly provider: Provider;
  /** With CUDA, the numbers of the GPUs that this process owns. */
  readonly gpus?: readonly number[];
  /** GPUs that were asked for with `all` and cannot be opened, a sentence each. */
  readonly leftOut?: readonly string[];
  /** Why `auto` did not give CUDA; absent if it did or was not asked for. */
  readonly fallbackReason?: string;
}

/** Only the choice, of something that has more. */
export function choiceIn({ provider, gpus, leftOut, fallbackReason }: ProviderChoice): ProviderChoice {
  return {
    provider,
    ...(gpus && { gpus }),
    ...(leftOut && { leftOut }),
    ...(fallbackReason !== undefined && { fallbackReason }),
  };
}

interface Surroundings {
  /** Among several processes, which share the GPUs out. */
  readonly place?: ProcessPlace | undefined;
  readonly gpus?: Gpus;
}

// CUDA would put the fastest first, other than nvidia-smi and the driver's files.
process.env.CUDA_DEVICE_ORDER ??= 'PCI_BUS_ID';

/**
 * Chooses the models' provider. `auto` falls back to the CPU and says why.
 * @param modelPath an ONNX file to try GPUs with
 * @throws Error naming the missing part if `cuda`, or a GPU that was named, cannot be used
 */
export async function chooseProvider(
  { device, cudaDevices = 'all' }: Pick<Config, 'device'> & Partial<Pick<Config, 'cudaDevices'>>,
  modelPath: string,
  { place, gpus = gpusHere }: Surroundings = {},
): Promise<ProviderChoice> {
  if (device === 'cpu' || cudaDevices === 'none') return { provider: 'cpu' };
  const isNamed = cudaDevices !== 'all';
  const models = await gpus.list();
  const wanted = isNamed ? cudaDevices : [...(models ?? ['unknown']).keys()];
  const missing = models && wanted.find((index) => index >= models.length);
  if (missing !== undefined) throw new Error(namesMissing(missing, models ?? []));
  // Each GPU has one owner.
  const own = place ? wanted.filter((_, at) => at % place.processes === place.index) : wanted;
  const problems = await Promise.all(own.map((index) => gpus.probe(modelPath, index)));
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
  const problem = broken[0]?.problem ?? noGpuLeft(wanted.length, place?.processes ?? 1);
  if (device === 'cuda') throw new Error(`VERAVOX_DEVICE is cuda, but ${problem}.`);
  return { provider: 'cpu', fallbackReason: problem };
}

function namesMissing(index: number, models: readonly string[]): string {
  const there = models.map((model, i) => `${i} (${model})`).join(', ') || 'none';
  return `VERAVOX_CUDA_DEVICES names ${index}, but this machine has these GPUs: ${there}.`;
}

function noGpuLeft(gpus: number, processes: number): string {
  const has = gpus === 1 ? '1 GPU' : `${gpus} GPUs`;
  return `no GPU is left for this process: there are ${has} for ${processes} processes (VERAVOX_PROCESSES), and each GPU belongs to one`;
}
