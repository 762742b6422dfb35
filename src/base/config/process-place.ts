// SPDX-License-Identifier: Apache-2.0

/** The variable that tells a process which place it fills, from 0 on. Not a setting. */
export const PROCESS_INDEX = 'VERAVOX_PROCESS_INDEX';

/** One of several processes of a server. */
export interface ProcessPlace {
  /** From 0 on. */
  readonly index: number;
  readonly processes: number;
}

/** Undefined in a process without a supervisor. */
export function placeIn(env: Readonly<Record<string, string | undefined>>): ProcessPlace | undefined {
  const index = env[PROCESS_INDEX];
  const processes = Number(env.VERAVOX_PROCESSES);
  return index === undefined || !(processes >= 1) ? undefined : { index: Number(index), processes };
}
