// SPDX-License-Identifier: Apache-2.0
import { newTurn } from './turn.js';

export type Provider = 'cpu' | 'cuda' | 'webgpu';

/** The device of one scoring thread. */
export interface ScoringDevice {
  /** In metrics and log: `cpu`, shared by all threads of the CPU, `webgpu` or `cuda:0`. */
  readonly name: string;
  readonly provider: Provider;
  /** The number of a GPU with CUDA. */
  readonly cudaIndex?: number;
  /** Taken around each call of ONNX Runtime, if its provider serves one thread at a time. */
  readonly turn?: SharedArrayBuffer;
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

/**
 * The one GPU that ONNX Runtime uses with WebGPU. All sessions of a process share it, and the process crashes if two threads
 * use it at once: so do the old and the new models of a reload.
 */
export const webgpuDevice: ScoringDevice = { name: 'webgpu', provider: 'webgpu', turn: newTurn() };
