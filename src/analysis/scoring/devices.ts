// SPDX-License-Identifier: Apache-2.0

export type Provider = 'cpu' | 'cuda';

/** The device of one scoring thread. */
export interface ScoringDevice {
  /** In metrics and log: `cpu`, shared by all threads of the CPU, or `cuda:0`. */
  readonly name: string;
  readonly provider: Provider;
  /** The number of a GPU; absent for a CPU. */
  readonly cudaIndex?: number;
}

/** The state of a device. */
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
