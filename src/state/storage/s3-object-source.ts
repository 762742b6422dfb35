// SPDX-License-Identifier: Apache-2.0
import { GetObjectCommand } from '@aws-sdk/client-s3';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { identityOf } from '../../base/byte-source/identity.js';
import { withRetries } from '../../base/byte-source/retries.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { S3Calls } from './s3-calls.js';
import { objectFailure, statusOf, wrongAnswer } from './s3-failure.js';

interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

/** In Node a body is a stream. Of an answer with more than was asked for, nothing more is received. */
const discard = (body: unknown): void => (body as { destroy?: () => void } | undefined)?.destroy?.();

const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && error.key === 'STORAGE_UNAVAILABLE';

/** An object as it is at this moment. */
export interface S3ObjectState {
  readonly bytes: number;
  /** Empty of an empty object. */
  readonly etag: string;
  /** By the clock of the storage; undefined if it does not say. */
  readonly storedAtMs: number | undefined;
}

/** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE */
export async function stateOfObject(calls: S3Calls, object: S3Object): Promise<S3ObjectState> {
  try {
    // Of the one byte, the range says how many there are. Not every service that speaks this protocol has HEAD.
    const command = new GetObjectCommand({ ...object, Range: 'bytes=0-0' });
    const {
      Body,
      ContentRange,
      ETag: etag = '',
      LastModified,
    } = await calls.within((abortSignal) => calls.client.send(command, { abortSignal }));
    discard(Body);
    return { bytes: bytesInRange(ContentRange, 0, 0), etag, storedAtMs: LastModified?.getTime() };
  } catch (error) {
    if (statusOf(error) === 416) return { bytes: 0, etag: '', storedAtMs: undefined };
    throw objectFailure(error);
  }
}

/** The object's size by an answer with this part of it. @throws ServiceError STORAGE_UNAVAILABLE for another part */
function bytesInRange(contentRange = 'the whole object', first: number, last: number): number {
  const [, from, to, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange) ?? [];
  const bytes = Number(total);
  if (Number(from) !== first || Number(to) !== last || !Number.isSafeInteger(bytes) || bytes <= last) {
    throw wrongAnswer(`answered ${contentRange.slice(0, 100)} instead of bytes ${first}-${last}`);
  }
  return bytes;
}

/** An object in S3, of the version that was there when it was opened. */
export class S3ObjectSource implements ByteSource {
  readonly bytes: number;
  readonly identity: string;
  readonly #calls: S3Calls;
  readonly #object: S3Object;
  readonly #etag: string;
  readonly #retryPausesMs: readonly number[] | undefined;

  private constructor(
    calls: S3Calls,
    object: S3Object,
    { bytes, etag }: S3ObjectState,
    retryPausesMs: readonly number[] | undefined,
  ) {
    this.#calls = calls;
    this.#object = object;
    this.#etag = etag;
    this.#retryPausesMs = retryPausesMs;
    this.bytes = bytes;
    this.identity = identityOf(object.Bucket, object.Key, etag, bytes);
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE */
  static async open(
    calls: S3Calls,
    object: S3Object,
    retryPausesMs?: readonly number[],
  ): Promise<S3ObjectSource> {
    return new S3ObjectSource(calls, object, await stateOfObject(calls, object), retryPausesMs);
  }

  read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const once = (): Promise<void> => this.#readOnce(into, offset, signal);
    return withRetries(once, isUnavailable, signal, this.#retryPausesMs);
  }

  async close(): Promise<void> {}

  async #readOnce(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const last = offset + into.length - 1;
    const command = new GetObjectCommand({
      ...this.#object,
      Range: `bytes=${offset}-${last}`,
      ...(this.#etag !== '' && { IfMatch: this.#etag }),
    });
    try {
      await this.#calls.within(async (abortSignal) => {
        const { Body, ContentRange, ETag = '' } = await this.#calls.client.send(command, { abortSignal });
        try {
          const bytes = bytesInRange(ContentRange, offset, last);
          if (bytes !== this.bytes || ETag !== this.#etag) throw new ServiceError('FILE_CHANGED');
          await fill(into, Body as unknown as AsyncIterable<Uint8Array>);
        } finally {
          // Further bytes are not received.
          discard(Body);
        }
      }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw objectFailure(error);
    }
  }
}

/** @throws ServiceError STORAGE_UNAVAILABLE unless exactly `into.length` bytes come */
async function fill(into: Uint8Array, body: AsyncIterable<Uint8Array>): Promise<void> {
  let done = 0;
  for await (const chunk of body) {
    if (done + chunk.length > into.length) throw wrongAnswer('sent more than was asked for');
    into.set(chunk, done);
    done += chunk.length;
  }
  if (done < into.length) throw wrongAnswer('sent less than was asked for');
}
