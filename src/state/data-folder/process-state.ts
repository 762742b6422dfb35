// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

export interface ProcessState {
  /** As in proc(5), such as `T (stopped)`. */
  readonly state: string;
  /** A debugger, or another tracer, has hold of it. */
  readonly isTraced: boolean;
}

/** The system's facts about a process; undefined if it does not exist or the system is not Linux. */
export function processState(pid: number): ProcessState | undefined {
  let status: string;
  try {
    status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return undefined;
  }
  const lines = status.split('\n');
  const field = (name: string): string =>
    lines
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? '';
  return { state: field('State'), isTraced: !['', '0'].includes(field('TracerPid')) };
}
