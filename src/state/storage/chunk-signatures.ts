// SPDX-License-Identifier: Apache-2.0
import { createHash, createHmac, type Hash } from 'node:crypto';
import { ServiceError } from '../../base/errors/service-error.js';
import { isSame, REGION } from './signature.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The signatures within an `aws-chunked` body: each also covers the one before, the first that of the request. */
export class ChunkSignatures {
  readonly #key: Buffer;
  readonly #scope: string;
  #previous: string;
  #chunk: Hash = createHash('sha256');

  /** @param date of the request, as in `x-amz-date` */
  constructor(secretAccessKey: string, date: string, requestSignature: string) {
    const day = date.slice(0, 8);
    const steps = [day, REGION, 's3', 'aws4_request'];
    this.#key = steps.reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
    this.#scope = `${date}\n${steps.join('/')}`;
    this.#previous = requestSignature;
  }

  update(content: Uint8Array): void {
    this.#chunk.update(content);
  }

  /** @throws ServiceError SIGNATURE_MISMATCH */
  endChunk(signature: string): void {
    this.#check('AWS4-HMAC-SHA256-PAYLOAD', `${sha256('')}\n${this.#chunk.digest('hex')}`, signature);
    this.#chunk = createHash('sha256');
  }

  /** @throws ServiceError SIGNATURE_MISMATCH */
  endTrailer(lines: string, signature: string): void {
    this.#check('AWS4-HMAC-SHA256-TRAILER', sha256(lines), signature);
  }

  #check(kind: string, signed: string, signature: string): void {
    const text = `${kind}\n${this.#scope}\n${this.#previous}\n${signed}`;
    if (!isSame(signature, hmac(this.#key, text).toString('hex')))
      throw new ServiceError('SIGNATURE_MISMATCH');
    this.#previous = signature;
  }
}
