// SPDX-License-Identifier: Apache-2.0
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { identityOf } from '../../base/byte-source/identity.js';
import { withRetries } from '../../base/byte-source/retries.js';
import { ServiceError } from '../../base/errors/service-error.js';

interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

function toServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  const status = statusOf(cause);
  if (status === 404) return new ServiceError('OBJECT_NOT_FOUND');
  if (status === 412 || status === 416) return new ServiceError('FILE_CHANGED');
  return new ServiceError('STORAGE_UNAVAILABLE', {}, { cause });
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
export async function stateOfObject(client: S3Client, object: S3Object): Promise<S3ObjectState> {
  try {
    // Of the one byte, the range says how many there are. Not every service that speaks this protocol has HEAD.
    const {
      Body,
      ContentRange = '',
      ETag: etag = '',
      LastModified,
    } = await client.send(new GetObjectCommand({ ...object, Range: 'bytes=0-0' }));
    discard(Body);
    const [, total] = /\/(\d+)$/.exec(ContentRange) ?? [];
    if (total === undefined) throw new Error('The answer is not a range.');
    return { bytes: Number(total), etag, storedAtMs: LastModified?.getTime() };
  } catch (error) {
    if (statusOf(error) === 416) return { bytes: 0, etag: '', storedAtMs: undefined };
    throw toServiceError(error);
  }
}

/** An object in S3, of the version that was there when it was opened. */
export class S3ObjectSource implements ByteSource {
  readonly bytes: number;
  readonly identity: string;
  readonly #client: S3Client;
  readonly #object: S3Object;
  readonly #etag: string;

  private constructor(client: S3Client, object: S3Object, bytes: number, etag: string) {
    this.#client = client;
    this.#object = object;
    this.#etag = etag;
    this.bytes = bytes;
    this.identity = identityOf(object.Bucket, object.Key, etag, bytes);
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE */
  static async open(client: S3Client, object: S3Object): Promise<S3ObjectSource> {
    const { bytes, etag } = await stateOfObject(client, object);
    return new S3ObjectSource(client, object, bytes, etag);
  }

  read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    return withRetries(() => this.#readOnce(into, offset, signal), isUnavailable, signal);
  }

  async close(): Promise<void> {}

  async #readOnce(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const Range = `bytes=${offset}-${offset + into.length - 1}`;
    const command = new GetObjectCommand({
      ...this.#object,
      Range,
      ...(this.#etag !== '' && { IfMatch: this.#etag }),
    });
    try {
      const { Body, ContentLength, ETag = '' } = await this.#client.send(command, { abortSignal: signal });
      if (Body === undefined) throw new Error('The answer has no body.');
      // Whatever came: never more than was asked for.
      if (ContentLength !== into.length || ETag !== this.#etag) {
        discard(Body);
        throw new ServiceError('FILE_CHANGED');
      }
      let done = 0;
      for await (const chunk of Body as unknown as AsyncIterable<Uint8Array>) {
        into.set(chunk, done);
        done += chunk.length;
      }
      if (done < into.length) throw new Error('The answer was cut short.');
    } catch (error) {
      signal.throwIfAborted();
      throw toServiceError(error);
    }
  }
}
