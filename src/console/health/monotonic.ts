// SPDX-License-Identifier: Apache-2.0

/** The same in all processes of a machine; whatever is done to its clock, it goes on. */
export const monotonicS = (): number => Number(process.hrtime.bigint()) / 1e9;

/** A label moves by whole seconds, and not because a clock is read a little earlier or later. */
const LABEL_MOVES_S = 0.75;

/** The time of day that belongs to a monotonic second, by the clock now. */
export class WallLabels {
  readonly #nowS: () => number;
  readonly #wallS: () => number;
  #offsetS = Number.NaN;

  constructor(nowS: () => number = monotonicS, wallS: () => number = () => Date.now() / 1000) {
    this.#nowS = nowS;
    this.#wallS = wallS;
  }

  /** Seconds since 1970 at second 0; whole. */
  offsetS(): number {
    const exactS = this.#wallS() - this.#nowS();
    if (!(Math.abs(exactS - this.#offsetS) <= LABEL_MOVES_S)) this.#offsetS = Math.round(exactS);
    return this.#offsetS;
  }
}
