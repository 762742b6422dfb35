// SPDX-License-Identifier: Apache-2.0
import { type FileHandle, open, utimes } from 'node:fs/promises';
import path from 'node:path';
import { MAX_KEY_BYTES } from '../../base/contract/limits.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { incomingFolder, incomingName } from '../data-folder/data-folder.js';
import { makeFolderLater, moveIntoPlace, removeFromPlace } from '../data-folder/durable-file.js';
import { storedTime } from '../data-folder/lived-days.js';
import { type AccountQuota, AccountSpace, MD5_BYTES, sizeOf } from './account-space.js';
import type { ExpectedChecksum } from './checksums.js';
import { onDisk } from './disk-failure.js';
import { DiskRoom, type FreeBytes } from './disk-room.js';
import { type ListedItem, type ListingTerms, listFiles } from './file-listing.js';
import { fileOfName, parseName } from './object-name.js';
import type { StoredObject } from './object-storage.js';
import { ObjectUpload } from './object-upload.js';
import { invalid } from './signature-check.js';

/** An object that can be read. The caller must close it. */
export interface OpenObject {
  readonly bytes: number;
  /** The hexadecimal MD5 of the content, as S3 has it. */
  readonly md5: string;
  readonly modifiedAt: Date;
  /** @returns how many bytes were read; fewer than `buffer` holds only at the end */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface DiskSettings {
  readonly dataDir: string;
  readonly quota: AccountQuota;
  /** Kept free of objects. */
  readonly reserveBytes: number;
  /** 0 keeps objects; the sweep removes them. */
  readonly ttlDays: number;
  readonly freeBytes?: FreeBytes;
}

export interface PageTerms {
  readonly after?: string | undefined;
  readonly isGrouped?: boolean;
}

/** Without the rest it is a group: the common beginning of several objects' names, up to a slash. */
export interface PageItem {
  readonly name: string;
  readonly object?: Pick<OpenObject, 'bytes' | 'md5' | 'modifiedAt'>;
}

export interface Page {
  readonly items: readonly PageItem[];
  /** The name behind which there is more; undefined at the end. */
  readonly next: string | undefined;
}

const COPY_BYTES = 1 << 20;

/** Interval between an upload's checks that its account still has room: each takes the account's lock. */
const QUOTA_CHECK_BYTES = 16 << 20;

/** Objects as files on the local disk. */
export class DiskObjects {
  readonly #root: string;
  readonly #settings: DiskSettings;
  readonly #space: AccountSpace;
  readonly #room: DiskRoom;
  readonly #incoming: string;
  readonly #uploading = new Set<Promise<void>>();

  private constructor(settings: DiskSettings) {
    const { dataDir, quota, reserveBytes, freeBytes } = settings;
    this.#settings = settings;
    this.#root = path.join(dataDir, 'objects');
    this.#space = new AccountSpace(dataDir, quota);
    this.#room = new DiskRoom(this.#root, reserveBytes, freeBytes);
    this.#incoming = incomingFolder(dataDir);
  }

  static async open(settings: DiskSettings): Promise<DiskObjects> {
    const objects = new DiskObjects(settings);
    await makeFolderLater(objects.#incoming);
    return objects;
  }

  /**
   * Begins to store an object, whole or not at all; an older one of that name is there until the new one is complete.
   * The caller must finish or discard the upload.
   * @param declaredBytes the size that its sender declares; 0 if unknown
   * @throws ServiceError OBJECT_ARGUMENT_INVALID for an invalid name, STORAGE_FULL, STORAGE_FAILED, ACCOUNT_QUOTA_EXCEEDED
   */
  async begin(name: string, expected: readonly ExpectedChecksum[], declaredBytes = 0): Promise<ObjectUpload> {
    const target = this.#targetOf(name);
    return this.beginPart(name, expected, declaredBytes, (temporary, bytes) =>
      this.#putInPlace(accountFolderOf(name), temporary, target, bytes),
    );
  }

  /** The same for a part of an object, which `putInPlace` takes, and which no account has until the object is complete. */
  async beginPart(
    name: string,
    expected: readonly ExpectedChecksum[],
    declaredBytes: number,
    putInPlace: (temporary: string, bytes: number) => Promise<void>,
  ): Promise<ObjectUpload> {
    const target = this.#targetOf(name);
    const folder = accountFolderOf(name);
    await this.checkRoom(name, declaredBytes);
    let announcedBytes = 0;
    let nextQuotaCheckBytes = QUOTA_CHECK_BYTES;
    const announce = (bytes: number): void => {
      this.#room.announce(folder, bytes - announcedBytes);
      announcedBytes = bytes;
    };
    const { promise, resolve } = unsettled();
    const upload = new ObjectUpload(path.join(this.#incoming, incomingName()), expected, {
      check: async (bytes) => {
        announce(Math.max(0, declaredBytes - bytes));
        await this.#room.checkReserve();
        if (bytes < nextQuotaCheckBytes) return;
        nextQuotaCheckBytes = bytes + QUOTA_CHECK_BYTES;
        await this.#space.check(folder, target, Math.max(bytes, declaredBytes));
      },
      putInPlace,
      whenOver: () => {
        announce(0);
        this.#uploading.delete(promise);
        resolve();
      },
    });
    announce(declaredBytes);
    this.#uploading.add(promise);
    return upload;
  }

  /** @throws ServiceError as `begin` does, when an object of this size has no room now */
  async checkRoom(name: string, bytes: number): Promise<void> {
    await onDisk(this.#space.check(accountFolderOf(name), this.#targetOf(name), bytes));
    await this.#room.check(accountFolderOf(name), bytes);
  }

  /** Removes an object for good. A missing object is no error. @throws ServiceError OBJECT_NOT_FOUND for an invalid name, STORAGE_FAILED */
  async remove(name: string): Promise<void> {
    const file = this.#fileOf(name);
    await onDisk(
      this.#change(accountFolderOf(name), file, undefined, () => removeFromPlace(file, this.#root)),
    );
  }

  async #putInPlace(folder: string, temporary: string, target: string, bytes: number): Promise<void> {
    if (this.#settings.ttlDays > 0) {
      const stored = storedTime(this.#settings.dataDir);
      await utimes(temporary, stored, stored);
    }
    await this.#change(folder, target, bytes, () => moveIntoPlace(temporary, target));
  }

  /** Locks only if space is counted, or old objects are removed. */
  #change(
    folder: string,
    target: string,
    bytes: number | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    const isShared = this.#space.isLimited || this.#settings.ttlDays > 0;
    return isShared ? this.#space.change(folder, target, bytes, work) : work();
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_FAILED */
  async read(name: string): Promise<OpenObject> {
    return openObjectFile(this.#fileOf(name));
  }

  /** @param prefix must hold the account's folder and the entity */
  async list(prefix: string, limit: number): Promise<StoredObject[]> {
    const { start, items } = await this.#listed(prefix, limit);
    const objects = await Promise.all(
      items.map(async ({ file = '', key }) => {
        const bytes = await onDisk(sizeOf(file));
        // Deleted since its folder was read.
        return bytes === undefined ? [] : [{ name: start + key, bytes }];
      }),
    );
    return objects.flat();
  }

  /**
   * The same with further facts for S3 programs, and a part at a time.
   * @param prefix must hold the account's folder and the entity
   * @param after a name; only later ones are listed
   */
  async page(prefix: string, limit: number, { after = '', isGrouped }: PageTerms): Promise<Page> {
    const start = startOf(prefix);
    if (after > start && !after.startsWith(start)) return { items: [], next: undefined };
    const afterKey = after.startsWith(start) ? after.slice(start.length) : '';
    // One more says whether there are more, also when files of this page are deleted meanwhile.
    const listed = await this.#listed(prefix, limit + 1, { after: afterKey, isGrouped });
    const items: PageItem[] = [];
    for (const { file, key } of listed.items.slice(0, limit)) {
      const name = start + key;
      const found = file === undefined ? { name } : await describedFile(file, name);
      if (found !== undefined) items.push(found);
    }
    const last = listed.items.length > limit ? listed.items[limit - 1] : undefined;
    return { items, next: last && start + last.key };
  }

  async #listed(
    prefix: string,
    limit: number,
    terms: Omit<ListingTerms, 'keyPrefix'> = {},
  ): Promise<{ start: string; items: ListedItem[] }> {
    const start = startOf(prefix);
    const keyPrefix = prefix.slice(start.length);
    const items = await onDisk(listFiles(path.join(this.#root, start), { keyPrefix, ...terms }, limit));
    return { start, items };
  }

  /** Resolves when each upload has been stored, or given up and removed. */
  async close(): Promise<void> {
    await Promise.all(this.#uploading);
  }

  /** @throws ServiceError OBJECT_NOT_FOUND: no object has such a name */
  #fileOf(name: string): string {
    const parts = parseName(name);
    if (parts === undefined) throw new ServiceError('OBJECT_NOT_FOUND');
    return path.join(this.#root, fileOfName(parts));
  }

  /** @throws ServiceError OBJECT_ARGUMENT_INVALID: S3 programs take 404 for a missing bucket */
  #targetOf(name: string): string {
    if (parseName(name) === undefined) {
      const key = `a key of 1 to ${MAX_KEY_BYTES} bytes, with no leading /, no segment . or .. and no control characters`;
      throw invalid(`<account>/<entity>/ and ${key}`, name);
    }
    return this.#fileOf(name);
  }
}

/** An account's folder and an entity. */
function startOf(prefix: string): string {
  const [folder = '', entity = ''] = prefix.split('/');
  return `${folder}/${entity}/`;
}

/** Undefined if it was deleted since its folder was read. */
async function describedFile(file: string, name: string): Promise<PageItem | undefined> {
  try {
    const object = await openObjectFile(file);
    await object.close();
    return { name, object };
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'OBJECT_NOT_FOUND') return undefined;
    throw error;
  }
}

/** A file that an ObjectUpload has written. @throws ServiceError OBJECT_NOT_FOUND, STORAGE_FAILED */
export async function openObjectFile(name: string): Promise<OpenObject> {
  const file = await onDisk(openExisting(name));
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

/** @throws ServiceError as ObjectUpload.write does, STORAGE_FAILED */
export async function copyInto(
  upload: ObjectUpload,
  object: OpenObject,
  start: number,
  end: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, end - start));
  for (let position = start; position < end; ) {
    const bytes = await object.read(buffer.subarray(0, end - position), position);
    if (bytes === 0) throw cutShort();
    await upload.write(buffer.subarray(0, bytes));
    position += bytes;
  }
}

export const cutShort = (): ServiceError =>
  new ServiceError('STORAGE_FAILED', {}, { cause: new Error('The file was cut short.') });

const accountFolderOf = (name: string): string => name.slice(0, name.indexOf('/'));

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
