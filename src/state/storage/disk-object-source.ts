// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { identityOf } from '../../base/byte-source/identity.js';
import { cutShort, type DiskObjects, type OpenObject } from './disk-objects.js';

/** An object of the data folder. A newer one of its name does not change the bytes read. */
export class DiskObjectSource implements ByteSource {
  readonly bytes: number;
  readonly identity: string;
  readonly #object: OpenObject;

  private constructor(name: string, object: OpenObject) {
    this.bytes = object.bytes;
    this.identity = identityOf(name, object.md5, object.bytes);
    this.#object = object;
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_FAILED */
  static async open(objects: DiskObjects, name: string): Promise<DiskObjectSource> {
    return new DiskObjectSource(name, await objects.read(name));
  }

  async read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    for (let done = 0; done < into.length; ) {
      signal.throwIfAborted();
      const bytes = await this.#object.read(into.subarray(done), offset + done);
      if (bytes === 0) throw cutShort();
      done += bytes;
    }
  }

  close(): Promise<void> {
    return this.#object.close();
  }
}
