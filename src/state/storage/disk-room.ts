// SPDX-License-Identifier: Apache-2.0
import { statfs } from 'node:fs/promises';
import { Counts } from '../../base/counts.js';
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
  /** Bytes that uploads have announced and not written yet, by account. */
  readonly #announced = new Counts();
  #announcedBytes = 0;

  constructor(dir: string, reserveBytes: number, freeBytes: FreeBytes = freeBytesOf) {
    this.#dir = dir;
    this.#reserveBytes = reserveBytes;
    this.#freeBytes = freeBytes;
  }

  /**
   * Announcements of other accounts take at most half of the room: they cost nothing, and one that announces much and sends little
   * must leave others some.
   * @throws ServiceError STORAGE_FULL if this many more bytes of the account would touch the reserve
   */
  async check(account: string, bytes: number): Promise<void> {
    if (this.#reserveBytes === 0) return;
    const room = await this.#left();
    const own = this.#announced.of(account);
    const others = Math.min(this.#announcedBytes - own, room / 2);
    if (room - own - others < bytes) throw new ServiceError('STORAGE_FULL');
  }

  /** For uploads on their way. @throws ServiceError STORAGE_FULL if the reserve is touched */
  async checkReserve(): Promise<void> {
    if (this.#reserveBytes > 0 && (await this.#left()) < 0) throw new ServiceError('STORAGE_FULL');
  }

  /** Takes room for bytes that will come; negative when they have come, or will not. */
  announce(account: string, bytes: number): void {
    this.#announced.change(account, bytes);
    this.#announcedBytes += bytes;
  }

  async #left(): Promise<number> {
    return (await onDisk(this.#freeBytes(this.#dir))) - this.#reserveBytes;
  }
}
