// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ContentChecksums, type ExpectedChecksum } from './checksums.js';
import { diskFailure, onDisk } from './disk-failure.js';

const pwrite = promisify(fs.write);
const sync = promisify(fs.fsync);
const close = promisify(fs.close);

/** An upload's questions to its storage. */
export interface UploadHooks {
  /** Throws if this many bytes would exceed the quota. Called now and then. */
  check(bytes: number): Promise<void>;
  /** Called once the temporary file is complete and synced. */
  putInPlace(temporary: string, bytes: number): Promise<void>;
  /** Called once, when the upload has been stored or given up. */
  whenOver(): void;
}

/** Interval between checks for free space. An upload of unknown size can exceed its quota by this much. */
const CHECK_BYTES = 1 << 20;

/** An object on its way to the disk: under another name until it is complete, and gone without a trace if it never is. */
export class ObjectUpload {
  readonly #temporary: string;
  readonly #hooks: UploadHooks;
  readonly #file: number;
  readonly #checksums: ContentChecksums;
  #bytes = 0;
  #checkedBytes = 0;
  #isOver = false;

  /** Opens the file at once, so that `writeNow` works from the start. @throws ServiceError */
  constructor(temporary: string, expected: readonly ExpectedChecksum[], hooks: UploadHooks) {
    this.#temporary = temporary;
    this.#hooks = hooks;
    // The MD5 is stored with the object.
    this.#checksums = new ContentChecksums(expected, ['md5']);
    try {
      this.#file = fs.openSync(temporary, 'wx', 0o600);
    } catch (error) {
      throw diskFailure(error);
    }
  }

  /** @throws ServiceError STORAGE_FULL, STORAGE_FAILED, ACCOUNT_QUOTA_EXCEEDED */
  async write(chunk: Uint8Array): Promise<void> {
    const position = this.#append(chunk);
    if (this.#bytes - this.#checkedBytes >= CHECK_BYTES) {
      this.#checkedBytes = this.#bytes;
      await onDisk(this.#hooks.check(this.#bytes));
    }
    await this.#writeAt(position, chunk);
  }

  /** The same before it returns; also while a `write` is under way. */
  writeNow(chunk: Uint8Array): void {
    let position = this.#append(chunk);
    try {
      for (let rest = chunk; rest.length > 0; ) {
        const bytesWritten = fs.writeSync(this.#file, rest, 0, rest.length, position);
        rest = rest.subarray(bytesWritten);
        position += bytesWritten;
      }
    } catch (error) {
      throw diskFailure(error);
    }
  }

  /**
   * Puts the object in its place.
   * @returns the hexadecimal MD5 of the content
   * @throws ServiceError OBJECT_DIGEST_MISMATCH, OBJECT_HASH_MISMATCH, STORAGE_FULL, STORAGE_FAILED, ACCOUNT_QUOTA_EXCEEDED
   */
  async finish(): Promise<string> {
    const md5 = this.#checksums.end().get('md5') as Buffer;
    await this.#writeAt(this.#bytes, md5);
    await onDisk(sync(this.#file));
    await onDisk(this.#hooks.putInPlace(this.#temporary, this.#bytes));
    await this.#end();
    return md5.toString('hex');
  }

  /** Removes the written bytes. Call it after any failure. */
  async discard(): Promise<void> {
    await rm(this.#temporary, { force: true }).catch(() => {});
    await this.#end();
  }

  /** A disk that becomes full takes a part, and fails with the rest. */
  async #writeAt(start: number, bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const rest = bytes.length - written;
      const { bytesWritten } = await onDisk(pwrite(this.#file, bytes, written, rest, start + written));
      written += bytesWritten;
    }
  }

  #append(chunk: Uint8Array): number {
    this.#checksums.update(chunk);
    const position = this.#bytes;
    this.#bytes += chunk.length;
    return position;
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await close(this.#file).catch(() => {});
    this.#hooks.whenOver();
  }
}
