// SPDX-License-Identifier: Apache-2.0
import { availableParallelism, cpus, totalmem } from 'node:os';

/** The machine of a measurement; figures mean little without it. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}
