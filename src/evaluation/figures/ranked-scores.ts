// SPDX-License-Identifier: Apache-2.0

/** Error rates at rising thresholds; a sample counts as positive when its score is at or above the threshold. */
export interface ErrorRates {
  /** The distinct scores, rising, and then infinity: at the first everything is positive, at the last nothing. */
  readonly thresholds: Float64Array;
  /** Share of the negatives that count as positive, 0..1, falling. */
  readonly falsePositive: Float64Array;
  /** Share of the positives that count as negative, 0..1, rising. */
  readonly falseNegative: Float64Array;
}

/** Samples of two classes ordered by score once, so that error rates under any weights take a single pass. */
export class RankedScores {
  /** Indices of the samples by rising score. */
  readonly #order: Uint32Array;
  readonly #scores: ArrayLike<number>;
  readonly #isPositive: ArrayLike<boolean>;
  readonly #distinct: number;

  /**
   * @param members indices of the samples that count; all if it is absent
   * @throws RangeError when a score is not finite
   */
  constructor(scores: ArrayLike<number>, isPositive: ArrayLike<boolean>, members?: Iterable<number>) {
    this.#scores = scores;
    this.#isPositive = isPositive;
    this.#order = Uint32Array.from(members ?? Array.from({ length: scores.length }, (_, i) => i));
    const infinite = this.#order.find((i) => !Number.isFinite(scores[i]));
    if (infinite !== undefined) throw new RangeError(`The score of sample ${infinite} is not finite.`);
    this.#order.sort((a, b) => (scores[a] as number) - (scores[b] as number));
    this.#distinct = this.#order.reduce(
      (count, i, at) => (at > 0 && scores[i] === scores[this.#order[at - 1] as number] ? count : count + 1),
      0,
    );
  }

  /**
   * @param weights by the samples' indices; by default every sample weighs 1
   * @returns undefined if a class has no weight: then it has no error rate
   */
  errorRates(weights?: ArrayLike<number>): ErrorRates | undefined {
    const thresholds = new Float64Array(this.#distinct + 1);
    const falsePositive = new Float64Array(this.#distinct + 1);
    const falseNegative = new Float64Array(this.#distinct + 1);
    let negativeBelow = 0;
    let positiveBelow = 0;
    let at = 0;
    let previous = Number.NaN;
    for (const i of this.#order) {
      const score = this.#scores[i] as number;
      if (score !== previous) {
        thresholds[at] = score;
        falsePositive[at] = negativeBelow;
        falseNegative[at] = positiveBelow;
        at++;
        previous = score;
      }
      const weight = weights === undefined ? 1 : (weights[i] as number);
      if (this.#isPositive[i]) positiveBelow += weight;
      else negativeBelow += weight;
    }
    if (!(negativeBelow > 0 && positiveBelow > 0)) return undefined;
    thresholds[at] = Number.POSITIVE_INFINITY;
    falsePositive[at] = negativeBelow;
    falseNegative[at] = positiveBelow;
    for (let k = 0; k <= at; k++) {
      falsePositive[k] = 1 - (falsePositive[k] as number) / negativeBelow;
      falseNegative[k] = (falseNegative[k] as number) / positiveBelow;
    }
    return { thresholds, falsePositive, falseNegative };
  }
}
