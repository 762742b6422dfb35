// SPDX-License-Identifier: Apache-2.0

/** Lowest and highest sample of each bin, in 32,767ths of full scale. */
export interface PeakLevel {
  readonly binS: number;
  readonly low: Int16Array;
  readonly high: Int16Array;
}

/** The waveform in ever coarser bins: a drawing reads about as many as it has columns, whatever it shows. */
export type Peaks = readonly PeakLevel[];

/** Bins of a level that become one of the next. */
const FACTOR = 4;
/** Of the finest level: 8 MB, and a third more for the others. */
const MAX_BINS = 2 ** 21;
const FULL_SCALE = 32_767;
/** Beyond it, noise would look like speech. */
const MOST_GAIN = 30;
const SHORTEST_BIN_S = 0.001;
const COARSEST_BINS = 512;

/** A sample, -1..1, as peaks have it. */
export const inSteps = (sample: number): number => Math.round(Math.max(-1, Math.min(1, sample)) * FULL_SCALE);

/** Takes samples as they come, and keeps their peaks only. */
export class PeaksBuilder {
  readonly #samplesPerBin: number;
  readonly #binS: number;
  readonly #low: Int16Array;
  readonly #high: Int16Array;
  #bins = 0;
  #inBin = 0;
  #lowest = 0;
  #highest = 0;

  /** @param durationS at least that of the samples that will come; later ones are left out */
  constructor(durationS: number, rateHz: number) {
    const binS = Math.max(SHORTEST_BIN_S, durationS / MAX_BINS);
    this.#samplesPerBin = Math.max(1, Math.ceil(binS * rateHz));
    this.#binS = this.#samplesPerBin / rateHz;
    const bins = Math.ceil(durationS / this.#binS) + 1;
    this.#low = new Int16Array(bins);
    this.#high = new Int16Array(bins);
  }

  /** @param samples -1..1, one channel */
  add(samples: Float32Array): void {
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i] as number;
      if (this.#inBin === 0) {
        this.#lowest = sample;
        this.#highest = sample;
      } else if (sample < this.#lowest) this.#lowest = sample;
      else if (sample > this.#highest) this.#highest = sample;
      if (++this.#inBin === this.#samplesPerBin) this.#closeBin();
    }
  }

  done(): Peaks {
    if (this.#inBin > 0) this.#closeBin();
    return withCoarser({
      binS: this.#binS,
      low: this.#low.subarray(0, this.#bins),
      high: this.#high.subarray(0, this.#bins),
    });
  }

  #closeBin(): void {
    this.#low[this.#bins] = inSteps(this.#lowest);
    this.#high[this.#bins] = inSteps(this.#highest);
    // Beyond the end of the arrays nothing is written.
    this.#bins = Math.min(this.#bins + 1, this.#low.length);
    this.#inBin = 0;
  }
}

/** A level and those made of it. */
export function withCoarser(finest: PeakLevel): Peaks {
  const levels = [finest];
  for (let level = finest; level.low.length > COARSEST_BINS; levels.push(level)) level = coarser(level);
  return levels;
}

function coarser({ binS, low, high }: PeakLevel): { binS: number; low: Int16Array; high: Int16Array } {
  const bins = Math.ceil(low.length / FACTOR);
  const next = { binS: binS * FACTOR, low: new Int16Array(bins), high: new Int16Array(bins) };
  for (let bin = 0; bin < bins; bin++) {
    const [lowest, highest] = extremes(low, high, bin * FACTOR, (bin + 1) * FACTOR);
    next.low[bin] = lowest;
    next.high[bin] = highest;
  }
  return next;
}

function extremes(low: Int16Array, high: Int16Array, from: number, to: number): [number, number] {
  let lowest = FULL_SCALE;
  let highest = -FULL_SCALE;
  for (let i = from; i < Math.min(to, low.length); i++) {
    if ((low[i] as number) < lowest) lowest = low[i] as number;
    if ((high[i] as number) > highest) highest = high[i] as number;
  }
  return [lowest, highest];
}

/** Scales the loudest sample to the height of the row, at least 1. */
export function gainOf(peaks: Peaks): number {
  const { low, high } = peaks.at(-1) ?? { low: [], high: [] };
  let loudest = 0;
  for (let bin = 0; bin < high.length; bin++) {
    loudest = Math.max(loudest, high[bin] as number, -(low[bin] as number));
  }
  return loudest === 0 ? 1 : Math.max(1, Math.min(MOST_GAIN, FULL_SCALE / loudest));
}

/** The level with the fewest bins that are not longer than a column. */
export const levelFor = (peaks: Peaks, columnS: number): PeakLevel | undefined =>
  peaks.findLast(({ binS }) => binS <= columnS) ?? peaks[0];

/** Lowest and highest sample between two times, -1..1; undefined beyond the end. */
export function peakIn(
  { binS, low, high }: PeakLevel,
  startS: number,
  endS: number,
): readonly [number, number] | undefined {
  const from = Math.max(0, Math.floor(startS / binS));
  if (from >= low.length) return undefined;
  const [lowest, highest] = extremes(low, high, from, Math.max(from + 1, Math.ceil(endS / binS)));
  return [lowest / FULL_SCALE, highest / FULL_SCALE];
}
