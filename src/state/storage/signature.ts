// SPDX-License-Identifier: Apache-2.0
import { createHash, createHmac, type Hash, type Hmac, timingSafeEqual } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from './storage-secrets.js';

/** The embedded storage's one bucket: the first part of every link's path. */
export const BUCKET = 'veravox';
/** Part of the signed text; the region that clients take without instructions. */
export const REGION = 'us-east-1';
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';
export const PAYLOAD_HEADER = 'x-amz-content-sha256';
/** A parameter of ours in links, signed like the others. */
export const MAX_BYTES_PARAMETER = 'x-veravox-max-bytes';
/** The same: the owner of the link, if needed (LinkOwners). */
export const OWNER_PARAMETER = 'x-veravox-owner';

/** Node's SHA-256 in the shape that the signer wants. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toKey(secret));
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function toKey(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === 'string') return secret;
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}

/**
 * The way of signing that S3 asks for: paths are taken as they are, and no header is added. The library is loaded for the first
 * link: a tenth of a start would go into it.
 */
export async function s3Signer({ accessKeyId, secretAccessKey }: Credentials): Promise<SignatureV4> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  return new SignatureV4({
    credentials: { accessKeyId, secretAccessKey },
    region: REGION,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
}

/** Percent-encoding as SigV4 wants it: everything but letters, digits and `-._~`. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Takes the same time wherever the texts differ. */
export function isSame(a: string, b: string): boolean {
  const [bytesA, bytesB] = [Buffer.from(a), Buffer.from(b)];
  return bytesA.length === bytesB.length && timingSafeEqual(bytesA, bytesB);
}
