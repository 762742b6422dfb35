// SPDX-License-Identifier: Apache-2.0
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const TICKET_LIFETIME_S = 60;
/** Of one process; older ones may then be used again, until they end. */
const MAX_REMEMBERED = 100_000;

const FORM = /^([A-Za-z0-9-]{1,64})\.(\d{13})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/;

/**
 * Tickets let a web page open one stream without a key in its code. They are signed, so that any process with the same secret
 * takes them; each process takes a ticket once.
 */
export class Tickets {
  readonly #secret: string;
  readonly #nowMs: () => number;
  /** With the time at which they end anyway. */
  readonly #used = new Map<string, number>();

  constructor(secret: string, nowMs: () => number = Date.now) {
    this.#secret = secret;
    this.#nowMs = nowMs;
  }

  issue(keyId: string): string {
    const expiresMs = this.#nowMs() + TICKET_LIFETIME_S * 1000;
    const content = `${keyId}.${expiresMs}.${randomBytes(12).toString('base64url')}`;
    return `${content}.${this.#sign(content)}`;
  }

  /** The id of the key that it was issued to; undefined for a ticket that is wrong, too old or used. */
  redeem(ticket: string): string | undefined {
    const [, keyId, expires, nonce, signature] = FORM.exec(ticket) ?? [];
    if (keyId === undefined || nonce === undefined || signature === undefined) return undefined;
    const isGenuine = timingSafeEqual(
      Buffer.from(this.#sign(`${keyId}.${expires}.${nonce}`)),
      Buffer.from(signature),
    );
    const expiresMs = Number(expires);
    if (!isGenuine || expiresMs < this.#nowMs() || this.#used.has(nonce)) return undefined;
    this.#forget();
    this.#used.set(nonce, expiresMs);
    return keyId;
  }

  /** They end in the order in which they were issued, more or less. */
  #forget(): void {
    for (const [nonce, expiresMs] of this.#used) {
      if (expiresMs >= this.#nowMs() && this.#used.size < MAX_REMEMBERED) return;
      this.#used.delete(nonce);
    }
  }

  #sign(content: string): string {
    return createHmac('sha256', this.#secret).update(`stream ticket:${content}`).digest('base64url');
  }
}
