// SPDX-License-Identifier: Apache-2.0
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../base/errors/service-error.js';

/** 128 MiB and some tenths of a second: what OWASP recommends. */
const USUAL_LOG_COST = 17;
const BLOCK_SIZE = 8;
const HASH_BYTES = 32;
const MAX_WAITING = 8;

const FORM = /^scrypt\$(\d{1,2})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

export interface PasswordOptions {
  /** The logarithm of scrypt's N. */
  readonly logCost?: number;
}

/**
 * Hashes passwords, one at a time and on libuv's threads, so that sign-ins take at most one core and 128 MiB.
 */
export class Passwords {
  readonly #logCost: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor({ logCost = USUAL_LOG_COST }: PasswordOptions = {}) {
    this.#logCost = logCost;
  }

  /** What to store of a password. @throws ServiceError OVERLOADED */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const hashed = await this.#run(password, salt, this.#logCost);
    return `scrypt$${this.#logCost}$${salt.toString('base64url')}$${hashed.toString('base64url')}`;
  }

  /**
   * Takes as long without a stored password as with one.
   * @throws ServiceError OVERLOADED
   */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const [, logCost = this.#logCost, salt = '', expected = ''] = FORM.exec(stored ?? '') ?? [];
    const hashed = await this.#run(password, Buffer.from(salt, 'base64url'), Number(logCost));
    const wanted = Buffer.alloc(HASH_BYTES);
    wanted.write(expected, 'base64url');
    return timingSafeEqual(hashed, wanted) && expected !== '';
  }

  #run(password: string, salt: Buffer, logCost: number): Promise<Buffer> {
    if (this.#waiting >= MAX_WAITING)
      throw new ServiceError('OVERLOADED', { limit: `${MAX_WAITING} sign-ins at once` });
    this.#waiting++;
    const cost = 2 ** logCost;
    const options = { N: cost, r: BLOCK_SIZE, p: 1, maxmem: 256 * cost * BLOCK_SIZE };
    const hashing = this.#last.then(() => scryptOf(password.normalize('NFKC'), salt, options));
    this.#last = hashing.catch(() => {}).then(() => this.#waiting--);
    return hashing;
  }
}

const scryptOf = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hashed) => {
      if (error === null) resolve(hashed);
      else reject(error);
    });
  });
