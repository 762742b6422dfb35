// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/** A budget of bytes for one kind of request: taken at the door or refused there, never waited for. */
export class BytePermits {
  readonly #limitBytes: number;
  readonly #what: string;
  #usedBytes = 0;

  /** @param what the kind of bytes, as the refusal names it */
  constructor(limitBytes: number, what: string) {
    this.#limitBytes = limitBytes;
    this.#what = what;
  }

  /**
   * Returns how to give the bytes back, once.
   * @throws ServiceError OVERLOADED
   */
  acquire(bytes: number): () => void {
    if (this.#usedBytes + bytes > this.#limitBytes) {
      throw new ServiceError('OVERLOADED', { limit: `${this.#limitBytes} bytes of ${this.#what}` });
    }
    this.#usedBytes += bytes;
    return () => {
      this.#usedBytes -= bytes;
    };
  }
}
