// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { cpuDevices, cudaDevices, type ScoringDevice, webgpuDevice } from '../scoring/devices.js';
import type { ProviderChoice } from '../scoring/provider.js';

export type EngineConfig = Pick<Config, 'device' | 'prepareThreads' | 'scoringThreads' | 'maxBatchWindows'> &
  Partial<Pick<Config, 'onGpu'>>;

/** Threads, devices and batches of a pipeline. */
export interface Engine {
  readonly prepareThreads: number;
  /** One for each of the devices. */
  readonly scoringThreads: number;
  readonly maxBatchWindows: number;
  readonly devices: readonly ScoringDevice[];
  /** Used while none of the devices works. */
  readonly standby: readonly ScoringDevice[];
}

export function engineFor(config: EngineConfig, { provider, gpus = [] }: ProviderChoice): Engine {
  const { device, prepareThreads, scoringThreads, maxBatchWindows, onGpu } = config;
  const cpu = cpuDevices(scoringThreads);
  if (provider === 'cpu')
    return { prepareThreads, scoringThreads, maxBatchWindows, devices: cpu, standby: [] };
  const devices = provider === 'webgpu' ? [webgpuDevice] : cudaDevices(gpus);
  return {
    prepareThreads,
    maxBatchWindows,
    ...onGpu,
    scoringThreads: devices.length,
    devices,
    // The scores of a CPU differ a little, so only where it would do without a GPU anyway.
    standby: device === 'auto' ? cpu : [],
  };
}
