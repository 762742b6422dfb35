// SPDX-License-Identifier: Apache-2.0
import type { Option } from './option.js';

/** The numbers of GPUs, or all GPUs. */
export type CudaDevices = 'all' | 'none' | readonly number[];

/** Undefined for anything else, also for a number that comes twice. */
function parse(text: string): CudaDevices | undefined {
  if (text === 'all' || text === 'none') return text;
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^\d{1,3}$/.test(part))) return undefined;
  const numbers = parts.map(Number);
  return new Set(numbers).size === numbers.length ? numbers : undefined;
}

export function cudaDevices(
  settings: Pick<Option<CudaDevices>, 'variable' | 'description'>,
): Option<CudaDevices> {
  return {
    ...settings,
    accepts: '`all`, `none` or different numbers such as `0,1`',
    defaultText: 'all',
    default: () => 'all',
    parse,
  };
}
