// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { RefusedInputs } from '../analysis/prepare/refused-inputs.js';
import type { Addon } from '../base/addon/addon.js';
import type { Logger } from '../base/observe/log.js';
import { DeadlyInputs, MAX_KNOWN_INPUTS } from '../state/crash-notes/deadly-inputs.js';

/** More threads than these at work on files at once would go without notes. */
const NOTE_SLOTS = 1024;

/**
 * The record of the data folder; undefined, with a line in the log, if the folder takes none.
 * @param collects the notes of earlier processes; only if none of these can still run
 */
export function openDeadlyInputs(
  dataDir: string,
  logger: Logger,
  collects: boolean,
): DeadlyInputs | undefined {
  try {
    const deadlyInputs = new DeadlyInputs(dataDir);
    const found = collects ? deadlyInputs.collectAll() : [];
    for (const input of found) logger.error(input, 'this input crashed a process');
    return deadlyInputs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    logger.warn({ err: error }, 'inputs that crash a process cannot be recorded');
    return undefined;
  }
}

/** Has this process note its current input in `file`, until it ends in order. */
export function keepCrashNotes(file: string, addon: Addon, logger: Logger): void {
  try {
    addon.openCrashNotes(file, NOTE_SLOTS);
    process.on('exit', () => fs.rmSync(file, { force: true }));
  } catch (error) {
    logger.warn({ err: error }, 'inputs that crash this process cannot be recorded');
  }
}

/** Inputs that this process refuses, in memory that its threads see. */
export class SharedRefusals {
  readonly #inputs = RefusedInputs.create(MAX_KNOWN_INPUTS);

  get shared(): SharedArrayBuffer {
    return this.#inputs.shared;
  }

  /** @param sha256 in hexadecimal digits */
  add(sha256: readonly string[]): void {
    for (const digest of sha256) this.#inputs.add(Buffer.from(digest, 'hex'));
  }
}
