// SPDX-License-Identifier: Apache-2.0
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import type { Logger } from '../../base/observe/log.js';
import type { CallTimeouts } from '../../base/outgoing/call-clock.js';
import type { ObjectStorage, StoredObject } from './object-storage.js';
import { S3Calls } from './s3-calls.js';
import { isMissingObject, unavailable, wrongAnswer } from './s3-failure.js';
import { listBucket } from './s3-listing.js';
import { S3ObjectSource, type S3ObjectState, stateOfObject } from './s3-object-source.js';

export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  /** Empty for AWS itself. */
  readonly endpoint: string;
  /** Origin of links, if clients reach the storage by another one than this server; empty for the endpoint. */
  readonly publicUrl: string;
  readonly forcePathStyle: boolean;
  readonly linkLifetimeS: number;
  /** Of each request. */
  readonly timeouts: CallTimeouts;
  /** Of reading. */
  readonly retryPausesMs?: readonly number[];
}

/** S3 takes 10,000 parts of at least 5 MiB. */
const PART_BYTES = 16 << 20;
const MAX_NOTE_BYTES = 1024;

/** Objects in S3 or a server with its protocol. Credentials are found by the SDK's own chain. */
export class S3Storage implements ObjectStorage {
  readonly #settings: S3Settings;
  readonly #calls: S3Calls;
  /** Knows the origin that clients use; never sends anything. */
  readonly #linkCalls: S3Calls;

  constructor(settings: S3Settings, log?: Pick<Logger, 'warn'>) {
    const { region, endpoint, publicUrl, forcePathStyle, timeouts } = settings;
    const common: S3ClientConfig = {
      region,
      forcePathStyle,
      // Otherwise a presigned PUT carries the checksum of an empty body, and S3 refuses every real one.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    };
    this.#settings = settings;
    this.#calls = new S3Calls({ ...common, ...(endpoint !== '' && { endpoint }) }, timeouts, log);
    this.#linkCalls =
      publicUrl === '' ? this.#calls : new S3Calls({ ...common, endpoint: publicUrl }, timeouts, log);
  }

  presignPut(name: string): Promise<string> {
    const { linkLifetimeS } = this.#settings;
    return reachable(this.#linkCalls.sign(new PutObjectCommand(this.#object(name)), linkLifetimeS));
  }

  presignGet(name: string): Promise<string> {
    const { linkLifetimeS } = this.#settings;
    return reachable(this.#linkCalls.sign(new GetObjectCommand(this.#object(name)), linkLifetimeS));
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const command = new PutObjectCommand({ ...this.#object(name), Body: bytes });
    await this.#call((client, options) => client.send(command, options));
  }

  async writeFrom(name: string, pieces: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
    const object = this.#object(name);
    const parts: { ETag: string; PartNumber: number }[] = [];
    let uploadId: string | undefined;
    try {
      for await (const { part, isLast } of inParts(pieces)) {
        if (isLast && parts.length === 0) {
          await this.write(name, part);
          return;
        }
        uploadId ??= await this.#beginUpload(name);
        const PartNumber = parts.length + 1;
        const upload = new UploadPartCommand({ ...object, UploadId: uploadId, PartNumber, Body: part });
        const { ETag } = await this.#call((client, options) => client.send(upload, options), signal);
        if (ETag === undefined) throw wrongAnswer('stored a part without a name for it');
        parts.push({ ETag, PartNumber });
      }
      const complete = new CompleteMultipartUploadCommand({
        ...object,
        UploadId: uploadId,
        MultipartUpload: { Parts: parts },
      });
      await this.#call((client, options) => client.send(complete, options), signal);
    } catch (error) {
      // Parts that stay behind cost money.
      if (uploadId !== undefined) {
        const abort = new AbortMultipartUploadCommand({ ...object, UploadId: uploadId });
        await this.#call((client, options) => client.send(abort, options)).catch(() => {});
      }
      throw error;
    }
  }

  async #beginUpload(name: string): Promise<string> {
    const create = new CreateMultipartUploadCommand(this.#object(name));
    const { UploadId } = await this.#call((client, options) => client.send(create, options));
    if (UploadId === undefined) throw wrongAnswer('began an upload without a name for it');
    return UploadId;
  }

  async remove(name: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#object(name));
    await this.#call((client, options) => client.send(command, options));
  }

  list(prefix: string, limit: number, keep?: (bytes: number) => void): Promise<StoredObject[]> {
    const { bucket } = this.#settings;
    return this.#call((client, { abortSignal }) =>
      listBucket(client, bucket, prefix, limit, abortSignal, keep),
    );
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE */
  stateOf(name: string): Promise<S3ObjectState> {
    return stateOfObject(this.#calls, this.#object(name));
  }

  openSource(name: string): Promise<ByteSource> {
    return S3ObjectSource.open(this.#calls, this.#object(name), this.#settings.retryPausesMs);
  }

  /**
   * The text of a small object; undefined without it.
   * @throws ServiceError STORAGE_UNAVAILABLE, whose cause is the SDK's error
   */
  async readNote(name: string): Promise<string | undefined> {
    const command = new GetObjectCommand({ ...this.#object(name), Range: `bytes=0-${MAX_NOTE_BYTES - 1}` });
    try {
      return await this.#calls.within(async (abortSignal) => {
        const { Body, ContentLength = 0 } = await this.#calls.client.send(command, { abortSignal });
        if (ContentLength <= MAX_NOTE_BYTES) return Body?.transformToString();
        (Body as { destroy?: () => void } | undefined)?.destroy?.();
        return '';
      });
    } catch (error) {
      if (isMissingObject(error)) return undefined;
      throw unavailable(error);
    }
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#settings.bucket, Key: name };
  }

  #call<Result>(
    call: (client: S3Calls['client'], options: { abortSignal: AbortSignal }) => Promise<Result>,
    caller?: AbortSignal,
  ): Promise<Result> {
    return reachable(this.#calls.within((abortSignal) => call(this.#calls.client, { abortSignal }), caller));
  }

  isOwnLink(link: URL): boolean {
    return this.linkPrefixes().some((prefix) => link.href.startsWith(prefix));
  }

  /** A link is good if this server makes the same at the same moment. With other credentials, only the storage can tell. */
  async nameBehind(link: URL): Promise<string | undefined> {
    const parameter = (name: string): string => link.searchParams.get(`X-Amz-${name}`) ?? '';
    const time = parameter('Date').replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
    const signedAt = new Date(time);
    const lifetimeS = Number(parameter('Expires'));
    if (!(signedAt.getTime() + 1000 * lifetimeS > Date.now())) return undefined;
    const start = this.#settings.forcePathStyle ? `/${this.#settings.bucket}/` : '/';
    try {
      const name = decodeURIComponent(link.pathname.slice(start.length));
      const made = await this.#linkCalls.sign(new GetObjectCommand(this.#object(name)), lifetimeS, signedAt);
      return new URL(made).href === link.href ? name : undefined;
    } catch {
      return undefined;
    }
  }

  linkPrefixes(): string[] {
    const {
      bucket: Bucket,
      region: Region,
      endpoint,
      publicUrl,
      forcePathStyle: ForcePathStyle,
    } = this.#settings;
    const Endpoint = publicUrl || endpoint;
    const rules = this.#linkCalls.client.config.endpointProvider;
    return [`${rules({ Bucket, Region, ForcePathStyle, ...(Endpoint !== '' && { Endpoint }) }).url.origin}/`];
  }

  async close(): Promise<void> {
    this.#calls.close();
    this.#linkCalls.close();
  }
}

async function reachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw unavailable(error);
  }
}

async function* inParts(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ part: Uint8Array; isLast: boolean }, void, void> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < PART_BYTES) continue;
    yield { part: Buffer.concat(held), isLast: false };
    held = [];
    bytes = 0;
  }
  yield { part: Buffer.concat(held), isLast: true };
}
