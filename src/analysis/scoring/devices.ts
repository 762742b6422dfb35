// SPDX-License-Identifier: Apache-2.0

export type Provider = 'cpu' | 'cuda';

/** What one scoring thread runs its models on. */
export interface ScoringDevice {
  /** In metrics and log: `cpu`, shared by all threads of the CPU, or `cuda:0`. */
  readonly name: string;
  readonly provider: Provider;
  /** The number of a GPU; absent for a CPU. */
  readonly cudaIndex?: number;
}

/** How a device is doing. */
export interface DeviceStatus {
  readonly name: string;
  readonly isWorking: boolean;
  /** Why it takes no work at the moment. */
  readonly problem?: string;
}

export const cpuDevices = (threads: number): ScoringDevice[] =>
  Array.from({ length: threads }, () => ({ name: 'cpu', provider: 'cpu' }));

export const cudaDevices = (indices: readonly number[]): ScoringDevice[] =>
  indices.map((cudaIndex) => ({ name: `cuda:${cudaIndex}`, provider: 'cuda', cudaIndex }));
