// SPDX-License-Identifier: Apache-2.0
import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { parseName } from './object-name.js';
import type { StoredObject } from './object-storage.js';
import type { CallOptions } from './s3-calls.js';
import { wrongAnswer } from './s3-failure.js';

/** The SDK has a page as buffers, as text and as values of it at the same time. */
const COPIES = 4;

/** Memory of the pages of one list, until the whole list is dropped. */
class ListMemory {
  readonly #keep: (bytes: number) => void;
  #bytes = 0;
  #refusal: unknown;

  constructor(keep: (bytes: number) => void) {
    this.#keep = keep;
  }

  /** @throws the errors of `keep`, which the SDK would change */
  async within<Result>(call: (onBytes: (bytes: number) => void) => Promise<Result>): Promise<Result> {
    try {
      return await call((bytes) => this.#take(bytes));
    } catch (error) {
      throw this.#refusal ?? error;
    }
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    try {
      this.#keep(COPIES * this.#bytes);
    } catch (error) {
      this.#refusal = error;
      throw new Error('The server has no memory for the list.');
    }
  }
}

/**
 * The first objects whose names start with `prefix`. Foreign objects under names that no client can have are left out.
 * @param abortSignal for all pages: a storage may list one object in each
 * @throws the SDK's errors, ServiceError STORAGE_UNAVAILABLE for an answer that cannot be true
 */
export async function listBucket(
  client: S3Client,
  bucket: string,
  prefix: string,
  limit: number,
  abortSignal: AbortSignal,
  keep: (bytes: number) => void = () => {},
): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  const memory = new ListMemory(keep);
  for (let token: string | undefined, left = limit; left > 0; ) {
    const page = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: left,
      ...(token !== undefined && { ContinuationToken: token }),
    });
    const {
      Contents = [],
      IsTruncated,
      NextContinuationToken,
    } = await memory.within((onBytes) => client.send(page, { abortSignal, onBytes } as CallOptions));
    if (Contents.length > left)
      throw wrongAnswer(`listed ${Contents.length} objects instead of at most ${left}`);
    left -= Contents.length;
    for (const { Key: name = '', Size: bytes } of Contents) {
      if (!name.startsWith(prefix)) throw wrongAnswer('listed an object with another prefix');
      if (bytes === undefined || !Number.isSafeInteger(bytes) || bytes < 0) {
        throw wrongAnswer('listed an object without a size');
      }
      if (parseName(name) !== undefined) found.push({ name, bytes });
    }
    if (IsTruncated !== true) break;
    // It may list less than was asked for, but never nothing, and never the same again.
    if (Contents.length === 0 || NextContinuationToken === undefined || NextContinuationToken === token) {
      throw wrongAnswer('has more objects, but does not list them');
    }
    token = NextContinuationToken;
  }
  return found;
}
