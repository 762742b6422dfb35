// SPDX-License-Identifier: Apache-2.0
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { packageCommit } from '../../src/base/config/package-dir.js';

/** Before the measurement makes its own. */
const [loadBefore = 0] = loadavg();

/** The machine of a measurement; figures mean little without it. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    loadBefore: Number(loadBefore.toFixed(1)),
    commit: packageCommit,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}
