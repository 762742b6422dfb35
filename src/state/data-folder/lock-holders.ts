// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { processState } from './process-state.js';

/** Ids of the processes that have the file open, as far as this process may look at them, on Linux. */
function processesWith(file: string): number[] {
  const { dev, ino } = fs.statSync(file);
  const isIt = (descriptor: string): boolean => {
    const stats = statOrNothing(descriptor);
    return stats?.dev === dev && stats.ino === ino;
  };
  return namesOrNone('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => namesOrNone(`/proc/${pid}/fd`).some((fd) => isIt(`/proc/${pid}/fd/${fd}`)))
    .map(Number);
}

/** The holders of the lock, for a sentence about it, with a way to find out if they are unknown. */
export function describeHolders(lockFile: string): string {
  const holders = processesWith(lockFile);
  if (holders.length > 0) return `process ${holders.map(describe).join(', ')}`;
  const noted = fs.readFileSync(lockFile, 'utf8').trim();
  const first = noted === '' ? '' : `started as process ${noted}; `;
  return `${first}as root, \`fuser -v ${path.resolve(lockFile)}\` names what holds it`;
}

function describe(pid: number): string {
  const isStopped = processState(pid)?.state.startsWith('T') ?? false;
  return isStopped ? `${pid}, which is stopped` : String(pid);
}

function namesOrNone(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch {
    return [];
  }
}

function statOrNothing(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file);
  } catch {
    return undefined;
  }
}
