// SPDX-License-Identifier: Apache-2.0
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../base/errors/service-error.js';

/** 128 MiB and some tenths of a second: OWASP's recommendation. */
const USUAL_LOG_COST = 17;
const BLOCK_SIZE = 8;
const HASH_BYTES = 32;
/** Of each queue. */
const MAX_WAITING = 8;

const FORM = /^scrypt\$(\d{1,2})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

/** `known` is for people who have already proved who they are: by a link, or by being signed in. */
export type PasswordQueue = 'known' | 'strangers';

interface Waiting {
  readonly work: () => Promise<Buffer>;
  readonly resolve: (hashed: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

export interface PasswordOptions {
  /** The logarithm of scrypt's N. */
  readonly logCost?: number;
}

/**
 * Hashes passwords, one at a time and on libuv's threads, so that sign-ins take at most one core and 128 MiB. Two queues take
 * turns: guessers of passwords keep out nobody who is known.
 */
export class Passwords {
  readonly #logCost: number;
  readonly #queues: Readonly<Record<PasswordQueue, Waiting[]>> = { known: [], strangers: [] };
  #running: PasswordQueue | undefined;

  constructor({ logCost = USUAL_LOG_COST }: PasswordOptions = {}) {
    this.#logCost = logCost;
  }

  /** The stored form of a password: new ones come from known people. @throws ServiceError OVERLOADED */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const hashed = await this.#run(password, salt, this.#logCost, 'known');
    return `scrypt$${this.#logCost}$${salt.toString('base64url')}$${hashed.toString('base64url')}`;
  }

  /**
   * Takes as long without a stored password as with one.
   * @throws ServiceError OVERLOADED
   */
  async verify(
    password: string,
    stored: string | undefined,
    queue: PasswordQueue = 'strangers',
  ): Promise<boolean> {
    const [, logCost = this.#logCost, salt = '', expected = ''] = FORM.exec(stored ?? '') ?? [];
    const hashed = await this.#run(password, Buffer.from(salt, 'base64url'), Number(logCost), queue);
    const wanted = Buffer.alloc(HASH_BYTES);
    wanted.write(expected, 'base64url');
    return timingSafeEqual(hashed, wanted) && expected !== '';
  }

  #run(password: string, salt: Buffer, logCost: number, queue: PasswordQueue): Promise<Buffer> {
    const waiting = this.#queues[queue];
    if (waiting.length + Number(this.#running === queue) >= MAX_WAITING)
      throw new ServiceError('OVERLOADED', { limit: `${MAX_WAITING} sign-ins at once` });
    const cost = 2 ** logCost;
    const options = { N: cost, r: BLOCK_SIZE, p: 1, maxmem: 256 * cost * BLOCK_SIZE };
    return new Promise((resolve, reject) => {
      const work = () => scryptOf(password.normalize('NFKC'), salt, options);
      waiting.push({ work, resolve, reject });
      if (this.#running === undefined) void this.#work();
    });
  }

  async #work(): Promise<void> {
    for (;;) {
      const { known, strangers } = this.#queues;
      const isKnownsTurn = known.length > 0 && (this.#running !== 'known' || strangers.length === 0);
      const next = (isKnownsTurn ? known : strangers).shift();
      this.#running = next && (isKnownsTurn ? 'known' : 'strangers');
      if (next === undefined) return;
      await next.work().then(next.resolve, next.reject);
    }
  }
}

const scryptOf = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hashed) => {
      if (error === null) resolve(hashed);
      else reject(error);
    });
  });
