// SPDX-License-Identifier: Apache-2.0
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../errors/service-error.js';
import { listFiles } from './file-listing.js';
import { fileOfName, parseName } from './object-name.js';
import type { StoredObject } from './object-storage.js';

/** Every file ends with the MD5 of what is before it: one rename then puts an object and its ETag in place. */
const MD5_BYTES = 16;

/** An object that can be read. Whoever gets it must close it. */
export interface OpenObject {
  readonly bytes: number;
  /** The hexadecimal MD5 of the content, as S3 has it. */
  readonly md5: string;
  readonly modifiedAt: Date;
  /** @returns how many bytes were read; fewer than `buffer` holds only at the end */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** What the content of an object has to be, where whoever sends it said so. */
export interface ExpectedDigests {
  /** Hexadecimal. */
  readonly sha256?: string | undefined;
  /** Hexadecimal. */
  readonly md5?: string | undefined;
}

/** Objects as files on the local disk. For one process: another one's uploads would be taken for leftovers. */
export class DiskObjects {
  readonly #root: string;
  readonly #incoming: string;
  readonly #writing = new Set<Promise<unknown>>();

  private constructor(root: string) {
    this.#root = root;
    this.#incoming = path.join(root, 'incoming');
  }

  /** Removes what an earlier process did not finish writing. */
  static async open(root: string): Promise<DiskObjects> {
    const objects = new DiskObjects(root);
    await mkdir(objects.#incoming, { recursive: true, mode: 0o700 });
    for (const name of await readdir(objects.#incoming)) await rm(path.join(objects.#incoming, name));
    return objects;
  }

  /**
   * Stores an object, whole or not at all; an older one of that name is there until the new one is complete.
   * @returns the hexadecimal MD5 of the content
   * @throws ServiceError OBJECT_NOT_FOUND, OBJECT_DIGEST_MISMATCH, STORAGE_FULL, STORAGE_FAILED, or what `content` throws
   */
  write(name: string, content: AsyncIterable<Uint8Array>, expected: ExpectedDigests): Promise<string> {
    const writing = this.#write(name, content, expected);
    const settled = writing.catch(() => {});
    this.#writing.add(settled);
    void settled.then(() => this.#writing.delete(settled));
    return writing;
  }

  async #write(name: string, content: AsyncIterable<Uint8Array>, expected: ExpectedDigests): Promise<string> {
    const target = this.#fileOf(name);
    const temporary = path.join(this.#incoming, randomUUID());
    const file = await onDisk(open(temporary, 'wx', 0o600));
    try {
      const md5 = createHash('md5');
      const sha256 = expected.sha256 === undefined ? undefined : createHash('sha256');
      for await (const chunk of content) {
        md5.update(chunk);
        sha256?.update(chunk);
        await onDisk(writeWhole(file, chunk));
      }
      const digest = md5.digest();
      const md5Hex = digest.toString('hex');
      const isIntact =
        (expected.md5 ?? md5Hex) === md5Hex &&
        (sha256 === undefined || expected.sha256 === sha256.digest('hex'));
      if (!isIntact) throw new ServiceError('OBJECT_DIGEST_MISMATCH');
      await onDisk(writeWhole(file, digest));
      await onDisk(file.sync());
      await file.close();
      await onDisk(putInPlace(temporary, target));
      return md5Hex;
    } catch (error) {
      await file.close().catch(() => {});
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_FAILED */
  async read(name: string): Promise<OpenObject> {
    const file = await onDisk(openExisting(this.#fileOf(name)));
    try {
      const { size, mtime } = await onDisk(file.stat());
      const bytes = size - MD5_BYTES;
      const md5 = Buffer.alloc(MD5_BYTES);
      await onDisk(file.read(md5, 0, MD5_BYTES, bytes));
      return {
        bytes,
        md5: md5.toString('hex'),
        modifiedAt: mtime,
        read: async (buffer, position) =>
          (await onDisk(file.read(buffer, 0, Math.min(buffer.length, bytes - position), position))).bytesRead,
        close: () => file.close(),
      };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** @param prefix must hold the account's folder and the entity */
  async list(prefix: string, limit: number): Promise<StoredObject[]> {
    const [folder = '', entity = '', ...rest] = prefix.split('/');
    const root = path.join(this.#root, folder, entity);
    const listed = await onDisk(listFiles(root, rest.join('/'), limit));
    return Promise.all(
      listed.map(async ({ file, key }) => ({
        name: `${folder}/${entity}/${key}`,
        bytes: (await onDisk(stat(file))).size - MD5_BYTES,
      })),
    );
  }

  /** Resolves when what is being written has been stored, or given up and removed. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #fileOf(name: string): string {
    const parts = parseName(name);
    if (parts === undefined) throw new ServiceError('OBJECT_NOT_FOUND');
    return path.join(this.#root, fileOfName(parts));
  }
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await file.write(chunk, written)).bytesWritten;
  }
}

async function putInPlace(temporary: string, target: string): Promise<void> {
  const dir = path.dirname(target);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await rename(temporary, target);
  // Makes the rename outlive a power failure.
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openExisting(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new ServiceError('OBJECT_NOT_FOUND');
    throw error;
  }
}

/** Turns what the file system reports into what a client is to know. */
async function onDisk<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
    throw new ServiceError(isFull ? 'STORAGE_FULL' : 'STORAGE_FAILED', {}, { cause });
  }
}
