// SPDX-License-Identifier: Apache-2.0
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { ObjectStorage, StoredObject } from './object-storage.js';
import { S3ObjectSource, type S3ObjectState, stateOfObject } from './s3-object-source.js';

export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  /** Empty for AWS itself. */
  readonly endpoint: string;
  /** Origin of links, where clients reach the storage by another one than this server; empty for the endpoint. */
  readonly publicUrl: string;
  readonly forcePathStyle: boolean;
  readonly linkLifetimeS: number;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** S3 takes 10,000 parts of at least 5 MiB. */
const PART_BYTES = 16 << 20;

/** Objects in S3 or in what speaks its protocol. Credentials are found by the SDK's own chain. */
export class S3Storage implements ObjectStorage {
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  /** Knows the origin that clients use; never sends anything. */
  readonly #linkClient: S3Client;

  constructor(settings: S3Settings) {
    const { region, endpoint, publicUrl, forcePathStyle } = settings;
    const common: S3ClientConfig = {
      region,
      forcePathStyle,
      maxAttempts: 2,
      requestHandler: { connectionTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
      // Otherwise a presigned PUT carries the checksum of an empty body, and S3 refuses every real one.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    };
    this.#settings = settings;
    this.#client = new S3Client({ ...common, ...(endpoint !== '' && { endpoint }) });
    this.#linkClient = publicUrl === '' ? this.#client : new S3Client({ ...common, endpoint: publicUrl });
  }

  presignPut(name: string): Promise<string> {
    const command = new PutObjectCommand({ Bucket: this.#settings.bucket, Key: name });
    return reachable(getSignedUrl(this.#linkClient, command, { expiresIn: this.#settings.linkLifetimeS }));
  }

  presignGet(name: string): Promise<string> {
    const command = new GetObjectCommand({ Bucket: this.#settings.bucket, Key: name });
    return reachable(getSignedUrl(this.#linkClient, command, { expiresIn: this.#settings.linkLifetimeS }));
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const command = new PutObjectCommand({ Bucket: this.#settings.bucket, Key: name, Body: bytes });
    await reachable(this.#client.send(command));
  }

  async writeFrom(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const object = { Bucket: this.#settings.bucket, Key: name };
    const parts: { ETag: string | undefined; PartNumber: number }[] = [];
    let uploadId: string | undefined;
    try {
      for await (const { part, isLast } of inParts(pieces)) {
        if (isLast && parts.length === 0) {
          await this.write(name, part);
          return;
        }
        uploadId ??= (await reachable(this.#client.send(new CreateMultipartUploadCommand(object)))).UploadId;
        const PartNumber = parts.length + 1;
        const upload = new UploadPartCommand({ ...object, UploadId: uploadId, PartNumber, Body: part });
        parts.push({ ETag: (await reachable(this.#client.send(upload))).ETag, PartNumber });
      }
      const complete = { ...object, UploadId: uploadId, MultipartUpload: { Parts: parts } };
      await reachable(this.#client.send(new CompleteMultipartUploadCommand(complete)));
    } catch (error) {
      // Parts that stay behind cost money.
      if (uploadId !== undefined) {
        const abort = new AbortMultipartUploadCommand({ ...object, UploadId: uploadId });
        await this.#client.send(abort).catch(() => {});
      }
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.#settings.bucket, Key: name });
    await reachable(this.#client.send(command));
  }

  async list(prefix: string, limit: number): Promise<StoredObject[]> {
    const { bucket } = this.#settings;
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: limit });
    const { Contents = [] } = await reachable(this.#client.send(command));
    return Contents.map(({ Key = '', Size = 0 }) => ({ name: Key, bytes: Size }));
  }

  /** @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE */
  stateOf(name: string): Promise<S3ObjectState> {
    return stateOfObject(this.#client, { Bucket: this.#settings.bucket, Key: name });
  }

  openSource(name: string): Promise<ByteSource> {
    return S3ObjectSource.open(this.#client, { Bucket: this.#settings.bucket, Key: name });
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
    const rules = this.#linkClient.config.endpointProvider;
    return [`${rules({ Bucket, Region, ForcePathStyle, ...(Endpoint !== '' && { Endpoint }) }).url.origin}/`];
  }

  async close(): Promise<void> {
    this.#client.destroy();
    this.#linkClient.destroy();
  }
}

/** Missing credentials, too, make the storage unavailable; the log has the cause. */
async function reachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new ServiceError('STORAGE_UNAVAILABLE', {}, { cause });
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
