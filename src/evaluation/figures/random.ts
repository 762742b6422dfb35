// SPDX-License-Identifier: Apache-2.0

const rotated = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));

/** xoshiro128** of D. Blackman and S. Vigna: the same numbers for the same seed on every machine. */
export class SeededRandom {
  readonly #state = new Uint32Array(4);

  constructor(seed: number) {
    // Neighbouring seeds give unrelated states: the steps and the finaliser of a Weyl sequence, as in SplitMix.
    let x = seed >>> 0;
    for (let i = 0; i < this.#state.length; i++) {
      x = (x + 0x9e3779b9) >>> 0;
      let z = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      this.#state[i] = z ^ (z >>> 15);
    }
  }

  /** An integer from 0 to `limit` - 1; `limit` is small beside 2^32, so that all are as good as equally likely. */
  below(limit: number): number {
    return Math.floor(this.unit() * limit);
  }

  /** From 0 to below 1, in steps of 2^-32. */
  unit(): number {
    return this.#next() / 2 ** 32;
  }

  #next(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#state;
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0;
    const e = c ^ a;
    const f = d ^ b;
    this.#state[0] = a ^ f;
    this.#state[1] = b ^ e;
    this.#state[2] = e ^ (b << 9);
    this.#state[3] = rotated(f, 11);
    return result;
  }
}
