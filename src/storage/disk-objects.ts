// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../errors/service-error.js';
import { makeFolderLater } from '../state/durable-file.js';
import { onDisk } from './disk-failure.js';
import { listFiles } from './file-listing.js';
import { fileOfName, parseName } from './object-name.js';
import type { StoredObject } from './object-storage.js';
import { type ExpectedDigests, ObjectUpload } from './object-upload.js';

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

/** Objects as files on the local disk. */
export class DiskObjects {
  readonly #root: string;
  readonly #incoming: string;
  readonly #uploading = new Set<Promise<void>>();

  private constructor(root: string) {
    this.#root = root;
    this.#incoming = path.join(root, 'incoming');
  }

  static async open(root: string): Promise<DiskObjects> {
    const objects = new DiskObjects(root);
    await makeFolderLater(objects.#incoming);
    return objects;
  }

  /**
   * Begins to store an object, whole or not at all; an older one of that name is there until the new one is complete.
   * Whoever gets the upload must finish or discard it.
   * @throws ServiceError OBJECT_NOT_FOUND, STORAGE_FULL, STORAGE_FAILED
   */
  begin(name: string, expected: ExpectedDigests): ObjectUpload {
    const target = this.#fileOf(name);
    const { promise, resolve } = unsettled();
    const upload = new ObjectUpload(path.join(this.#incoming, randomUUID()), target, expected, () => {
      this.#uploading.delete(promise);
      resolve();
    });
    this.#uploading.add(promise);
    return upload;
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

  /** Resolves when each upload has been stored, or given up and removed. */
  async close(): Promise<void> {
    await Promise.all(this.#uploading);
  }

  #fileOf(name: string): string {
    const parts = parseName(name);
    if (parts === undefined) throw new ServiceError('OBJECT_NOT_FOUND');
    return path.join(this.#root, fileOfName(parts));
  }
}

function unsettled(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function openExisting(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new ServiceError('OBJECT_NOT_FOUND');
    throw error;
  }
}
