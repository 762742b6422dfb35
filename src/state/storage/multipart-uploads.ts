// SPDX-License-Identifier: Apache-2.0
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../base/errors/service-error.js';
import { replaceFileLater } from '../data-folder/durable-file.js';
import { sizeOf } from './account-space.js';
import type { ExpectedChecksum } from './checksums.js';
import { diskFailure, onDisk } from './disk-failure.js';
import { copyInto, type DiskObjects, openObjectFile } from './disk-objects.js';
import type { ObjectUpload } from './object-upload.js';
import { invalid } from './signature-check.js';

export interface PartOfUpload {
  readonly uploadId: string;
  readonly number: number;
}

export interface ListedPart {
  readonly number: number;
  /** In hexadecimal. */
  readonly md5: string;
}

/** Demands on the joined object. */
export interface JoinTerms {
  readonly maxBytes: number;
  /** In decimal digits, as its sender states it. */
  readonly bytes?: string | undefined;
  readonly checksums?: readonly ExpectedChecksum[];
}

const NAME_FILE = 'name';
const IDLE_LIMIT_MS = 24 * 3600 * 1000;
/** The ending of files that hold the MD5 of an object that was made of parts, for requests that are repeated. */
const DONE_SUFFIX = '.done';
/** SDKs give up after a few minutes. */
const DONE_LIMIT_MS = 15 * 60 * 1000;

/**
 * Objects that arrive in parts: a folder for each below `incoming`, which a start of the server empties. Parts are files like
 * those of objects, with their MD5 at the end. All processes of the server see them.
 */
export class MultipartUploads {
  readonly #incoming: string;
  readonly #objects: DiskObjects;
  /** By the name of the file that will tell of their end. */
  readonly #joining = new Map<string, Promise<string>>();

  constructor(incoming: string, objects: DiskObjects) {
    this.#incoming = incoming;
    this.#objects = objects;
  }

  /** @returns its id. @throws ServiceError OBJECT_ARGUMENT_INVALID for an invalid name, STORAGE_FULL, STORAGE_FAILED, ACCOUNT_QUOTA_EXCEEDED */
  async begin(name: string): Promise<string> {
    await this.#objects.checkRoom(name, 0);
    await onDisk(this.#removeIdle());
    const uploadId = randomUUID();
    const folder = path.join(this.#incoming, uploadId);
    await onDisk(mkdir(folder, { mode: 0o700 }));
    await onDisk(writeFile(path.join(folder, NAME_FILE), name));
    return uploadId;
  }

  /** The caller must finish or discard it. @throws ServiceError OBJECT_UPLOAD_NOT_FOUND, and as DiskObjects.begin does */
  async beginPart(
    name: string,
    { uploadId, number }: PartOfUpload,
    expected: readonly ExpectedChecksum[],
    declaredBytes: number,
  ): Promise<ObjectUpload> {
    const file = path.join(await this.#folderOf(name, uploadId), String(number));
    return this.#objects.beginPart(name, expected, declaredBytes, async (temporary) => {
      // The upload may have been aborted.
      await rename(temporary, file).catch(uploadGone);
    });
  }

  /**
   * Makes one object of these parts, whole or not at all. Programs repeat the request if its answer takes long or is lost: the
   * repeat gets the same answer, and the parts are not joined twice.
   * @returns its hexadecimal MD5
   * @throws ServiceError OBJECT_UPLOAD_NOT_FOUND, OBJECT_PART_INVALID, OBJECT_TOO_LARGE, OBJECT_ARGUMENT_INVALID,
   *   OBJECT_DIGEST_MISMATCH, and as DiskObjects.begin does
   */
  async complete(
    name: string,
    uploadId: string,
    parts: readonly ListedPart[],
    terms: JoinTerms,
  ): Promise<string> {
    const request = createHash('sha256').update(JSON.stringify([name, uploadId, parts]));
    const done = path.join(this.#incoming, request.digest('hex') + DONE_SUFFIX);
    let joining = this.#joining.get(done);
    if (joining === undefined) {
      joining = this.#joinOnce(name, uploadId, parts, terms, done).finally(() => this.#joining.delete(done));
      this.#joining.set(done, joining);
    }
    return joining;
  }

  async #joinOnce(
    name: string,
    uploadId: string,
    parts: readonly ListedPart[],
    terms: JoinTerms,
    done: string,
  ): Promise<string> {
    try {
      const folder = await this.#folderOf(name, uploadId);
      const md5 = await this.#join(name, folder, parts, terms);
      // Without it only a repeat fails.
      await replaceFileLater(done, md5, false).catch(() => {});
      await this.#remove(folder);
      return md5;
    } catch (error) {
      const md5 = await readFile(done, 'utf8').catch(() => undefined);
      if (md5 !== undefined) return md5;
      // The upload may have ended in the meantime.
      await this.#folderOf(name, uploadId);
      throw error;
    }
  }

  async #join(
    name: string,
    folder: string,
    parts: readonly ListedPart[],
    { maxBytes, bytes: statedBytes, checksums = [] }: JoinTerms,
  ): Promise<string> {
    let bytes = 0;
    let lastNumber = 0;
    for (const { number } of parts) {
      const size = number > lastNumber ? await onDisk(sizeOf(path.join(folder, String(number)))) : undefined;
      if (size === undefined) throw new ServiceError('OBJECT_PART_INVALID', { number });
      bytes += size;
      lastNumber = number;
    }
    if (bytes > maxBytes) throw new ServiceError('OBJECT_TOO_LARGE', { allowedBytes: maxBytes });
    if (statedBytes !== undefined && statedBytes !== String(bytes)) {
      throw invalid(`the ${bytes} bytes of all parts in x-amz-mp-object-size`, statedBytes);
    }
    const upload = await this.#objects.begin(name, checksums, bytes);
    try {
      for (const { number, md5 } of parts) {
        const part = await openObjectFile(path.join(folder, String(number)));
        try {
          if (part.md5 !== md5) throw new ServiceError('OBJECT_PART_INVALID', { number });
          await copyInto(upload, part, 0, part.bytes);
        } finally {
          await part.close();
        }
      }
      return await upload.finish();
    } catch (error) {
      await upload.discard();
      throw error;
    }
  }

  /** @throws ServiceError OBJECT_UPLOAD_NOT_FOUND, STORAGE_FAILED */
  async abort(name: string, uploadId: string): Promise<void> {
    await this.#remove(await this.#folderOf(name, uploadId));
  }

  async #remove(folder: string): Promise<void> {
    const removed = path.join(this.#incoming, randomUUID());
    try {
      // Otherwise a part could come into a folder that is being emptied.
      await rename(folder, removed);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw diskFailure(error);
    }
    await onDisk(rm(removed, { recursive: true, force: true }));
  }

  /** @throws ServiceError OBJECT_UPLOAD_NOT_FOUND, STORAGE_FAILED */
  async #folderOf(name: string, uploadId: string): Promise<string> {
    if (!/^[0-9a-f-]{36}$/.test(uploadId)) throw new ServiceError('OBJECT_UPLOAD_NOT_FOUND');
    const folder = path.join(this.#incoming, uploadId);
    const nameOfUpload = await onDisk(readFile(path.join(folder, NAME_FILE), 'utf8').catch(uploadGone));
    if (nameOfUpload !== name) throw new ServiceError('OBJECT_UPLOAD_NOT_FOUND');
    return folder;
  }

  /** A folder changes with each part. */
  async #removeIdle(): Promise<void> {
    for (const entry of await readdir(this.#incoming, { withFileTypes: true })) {
      if (!entry.isDirectory() && !entry.name.endsWith(DONE_SUFFIX)) continue;
      const limitMs = entry.isDirectory() ? IDLE_LIMIT_MS : DONE_LIMIT_MS;
      const idle = path.join(this.#incoming, entry.name);
      const { mtimeMs = Date.now() } = (await stat(idle).catch(() => undefined)) ?? {};
      if (Date.now() - mtimeMs > limitMs) await rm(idle, { recursive: true, force: true });
    }
  }
}

function uploadGone(error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new ServiceError('OBJECT_UPLOAD_NOT_FOUND');
  throw error;
}
