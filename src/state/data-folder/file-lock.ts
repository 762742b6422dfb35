// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Addon, loadAddon } from '../../base/addon/addon.js';

const RETRY_MS = 5;
/** The holder of such a lock writes a few lines; a disk that is busy may take seconds for that. */
const PATIENCE_MS = 30_000;

let addon: Addon | undefined;
const tryLock: Addon['tryLock'] = (descriptor, kind) => {
  addon ??= loadAddon();
  return addon.tryLock(descriptor, kind);
};

/** A lock on a file between processes. It goes with the process, however that ends. */
export class FileLock {
  /** Shared by processes that inherit it: the lock is held until the last descriptor is closed. */
  readonly descriptor: number;

  private constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  /** Undefined if another process holds it. The file is made if it is missing. */
  static tryTake(file: string): FileLock | undefined {
    const descriptor = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    let isTaken = false;
    try {
      isTaken = tryLock(descriptor, 'exclusive');
    } finally {
      if (!isTaken) fs.closeSync(descriptor);
    }
    return isTaken ? new FileLock(descriptor) : undefined;
  }

  /** Waits until it is free. @throws Error if that takes too long */
  static async take(file: string, patienceMs = PATIENCE_MS): Promise<FileLock> {
    const deadlineMs = performance.now() + patienceMs;
    for (;;) {
      const lock = FileLock.tryTake(file);
      if (lock !== undefined) return lock;
      if (performance.now() >= deadlineMs) {
        throw new Error(`${file} has been locked by another process for ${patienceMs / 1000} s.`);
      }
      await pause(RETRY_MS);
    }
  }

  /** Whether any process holds it; never makes the file. */
  static isHeld(file: string): boolean {
    let descriptor: number;
    try {
      descriptor = fs.openSync(file, 'r');
    } catch {
      return false;
    }
    try {
      return !tryLock(descriptor, 'shared');
    } finally {
      fs.closeSync(descriptor);
    }
  }

  release(): void {
    fs.closeSync(this.descriptor);
  }
}

/** Does the work while no other process does work under the same lock. */
export async function locked<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = await FileLock.take(file);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
