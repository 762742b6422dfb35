// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../base/errors/service-error.js';
import { makeFolderLater, replaceFileLater } from '../data-folder/durable-file.js';
import { locked } from '../data-folder/file-lock.js';
import { formatVersion } from '../data-folder/format-version.js';
import { pieceOfEntry } from './object-name.js';

/** The room for the files of one account. 0 sets no limit. */
export interface AccountQuota {
  readonly maxBytes: number;
  readonly maxObjects: number;
}

interface Used {
  readonly bytes: number;
  readonly objects: number;
}

const VERSION = 1;

/**
 * Keeps account of the space of accounts, if it is limited: a small file per account, changed under a lock together with the
 * objects themselves, so that several processes count alike. A server that starts has them counted anew.
 */
export class AccountSpace {
  readonly #dir: string;
  readonly #objectsDir: string;
  readonly #quota: AccountQuota;

  constructor(dataDir: string, quota: AccountQuota) {
    this.#dir = path.join(dataDir, 'quota');
    this.#objectsDir = path.join(dataDir, 'objects');
    this.#quota = quota;
  }

  get isLimited(): boolean {
    return this.#quota.maxBytes > 0 || this.#quota.maxObjects > 0;
  }

  /**
   * For use before an upload begins, and again while it goes on; `change` is decisive.
   * @param folder the account's
   * @throws ServiceError ACCOUNT_QUOTA_EXCEEDED
   */
  async check(folder: string, target: string, bytes: number): Promise<void> {
    if (!this.isLimited) return;
    const used = await this.#locked(folder, () => this.#used(folder));
    this.#refuseOver(used, await sizeOf(target), bytes);
  }

  /**
   * Changes one object, while nobody else changes those of its account.
   * @param bytes of the new object; undefined for a removal
   * @throws ServiceError ACCOUNT_QUOTA_EXCEEDED, before `work` is done
   */
  change<Result>(
    folder: string,
    target: string,
    bytes: number | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.#locked(folder, async () => {
      if (!this.isLimited) return work();
      const used = await this.#used(folder);
      const before = await sizeOf(target);
      if (bytes !== undefined) this.#refuseOver(used, before, bytes);
      // If the work is cut short or its outcome cannot be written, the objects are counted anew.
      await rm(this.#fileOf(folder), { force: true });
      const result = await work();
      await this.#write(folder, after(used, before, await sizeOf(target))).catch(() => {});
      return result;
    });
  }

  async #locked<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    await makeFolderLater(this.#dir);
    return locked(path.join(this.#dir, `${folder}.lock`), work);
  }

  #refuseOver(used: Used, before: number | undefined, bytes: number): void {
    const { maxBytes, maxObjects } = this.#quota;
    const wanted = after(used, before, bytes);
    const isOver = (limit: number, count: number): boolean => limit > 0 && count > limit;
    if (isOver(maxBytes, wanted.bytes)) {
      throw new ServiceError('ACCOUNT_QUOTA_EXCEEDED', { limit: `${maxBytes} bytes` });
    }
    if (isOver(maxObjects, wanted.objects)) {
      throw new ServiceError('ACCOUNT_QUOTA_EXCEEDED', { limit: `${maxObjects} files` });
    }
  }

  async #used(folder: string): Promise<Used> {
    try {
      const used = JSON.parse(readFileSync(this.#fileOf(folder), 'utf8')) as Used;
      formatVersion(used, VERSION);
      if (Number.isSafeInteger(used.bytes) && Number.isSafeInteger(used.objects)) return used;
    } catch {
      // It is missing, or a crash has spoiled it: the objects themselves count.
    }
    const used = await this.#count(path.join(this.#objectsDir, folder));
    await this.#write(folder, used);
    return used;
  }

  async #count(root: string): Promise<Used> {
    let used: Used = { bytes: 0, objects: 0 };
    for await (const { file } of objectFiles(root)) used = after(used, undefined, await sizeOf(file));
    return used;
  }

  #write(folder: string, { bytes, objects }: Used): Promise<void> {
    const content = { version: VERSION, bytes, objects };
    return replaceFileLater(this.#fileOf(folder), `${JSON.stringify(content)}\n`, false);
  }

  #fileOf(folder: string): string {
    return path.join(this.#dir, `${folder}.json`);
  }
}

/** Every file ends with the MD5 of the bytes before it. */
export const MD5_BYTES = 16;

/** Of the object's content; undefined if it does not exist. */
export async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size - MD5_BYTES;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const after = (used: Used, before: number | undefined, now: number | undefined): Used => ({
  bytes: Math.max(0, used.bytes - (before ?? 0) + (now ?? 0)),
  objects: Math.max(0, used.objects - (before === undefined ? 0 : 1) + (now === undefined ? 0 : 1)),
});

/** All objects below a folder, in no order. */
export async function* objectFiles(dir: string): AsyncGenerator<{ file: string }> {
  try {
    for await (const entry of await opendir(dir, { bufferSize: 256 })) {
      const file = path.join(dir, entry.name);
      if (entry.isDirectory()) yield* objectFiles(file);
      else if (pieceOfEntry(entry.name)?.isFile) yield { file };
    }
  } catch (error) {
    // A removal of the last object of a folder also removes the folder.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
