// SPDX-License-Identifier: Apache-2.0
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { StorageSecrets } from './storage-secrets.js';

/** The requester of a link. */
export interface LinkOwner {
  readonly account: string;
  readonly keyId: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Writes the owner of a link into it, readable by servers with the same secrets only: links go through many hands. */
export class LinkOwners {
  readonly #key: Uint8Array;

  constructor({ accountSecret }: StorageSecrets) {
    this.#key = new Uint8Array(hkdfSync('sha256', accountSecret, '', 'owner of a link', 32));
  }

  seal({ account, keyId }: LinkOwner): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const text = JSON.stringify([account, keyId]);
    return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  /** Undefined if it was not sealed with these secrets. */
  open(sealed: string): LinkOwner | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      const [account, keyId] = JSON.parse(Buffer.concat([text, decipher.final()]).toString()) as string[];
      return account === undefined || keyId === undefined ? undefined : { account, keyId };
    } catch {
      return undefined;
    }
  }
}
