// SPDX-License-Identifier: Apache-2.0
import { statfs } from 'node:fs/promises';
import { ServiceError } from '../../base/errors/service-error.js';
import { onDisk } from './disk-failure.js';

/** Bytes that a file system has left for this program. */
export type FreeBytes = (dir: string) => Promise<number>;

/** Entries of the file system's table of files, which empty files use up before the space. */
const RESERVED_FILES = 1024;

const freeBytesOf: FreeBytes = async (dir) => {
  const { bavail, bsize, files, ffree } = await statfs(dir);
  // Without such a table, both are 0.
  return files > 0 && ffree < RESERVED_FILES ? 0 : bavail * bsize;
};

/** Keeps a part of the disk free of objects, so that keys, usage and audit can be written whatever clients send. */
export class DiskRoom {
  readonly #dir: string;
  readonly #reserveBytes: number;
  readonly #freeBytes: FreeBytes;
  /** Bytes that uploads have announced and not written yet. */
  #announcedBytes = 0;

  constructor(dir: string, reserveBytes: number, freeBytes: FreeBytes = freeBytesOf) {
    this.#dir = dir;
    this.#reserveBytes = reserveBytes;
    this.#freeBytes = freeBytes;
  }

  /** @throws ServiceError STORAGE_FULL if this many more bytes would touch the reserve */
  async check(bytes: number): Promise<void> {
    if (this.#reserveBytes === 0) return;
    const free = await onDisk(this.#freeBytes(this.#dir));
    if (free - this.#announcedBytes - bytes < this.#reserveBytes) throw new ServiceError('STORAGE_FULL');
  }

  /** Takes room for bytes that will come; negative when they have come, or will not. */
  announce(bytes: number): void {
    this.#announcedBytes += bytes;
  }
}
