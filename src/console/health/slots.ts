// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the last hour and day in slots of time. Slots count a clock that never jumps, shared by all processes of a machine.

/** The joining of several slots' numbers. */
export type Joining = 'sum' | 'max';

const FINE = { slotS: 1, slots: 3600 } as const;
const COARSE = { slotS: 10, slots: 8640 } as const;

/** Seconds that are kept at 1 s and at 10 s. */
export const FINE_SPAN_S = FINE.slotS * FINE.slots;
export const COARSE_SPAN_S = COARSE.slotS * COARSE.slots;
/** Of memory, for each series. */
export const SERIES_BYTES = 4 * (FINE.slots + COARSE.slots);

/** Counted by all processes; `present` is 0 if the server did not run or was blocked. */
export const PRESENT = 'present';

/** One series: the count until the next sample, and the samples before. */
export interface Cell {
  pending: number;
}

interface Series extends Cell {
  readonly joining: Joining;
  readonly fine: Uint32Array;
  readonly coarse: Uint32Array;
}

/** Plain JSON, so that another process can send it. */
export interface Stretch {
  /** Second in which the first point begins. */
  readonly fromS: number;
  readonly stepS: number;
  readonly points: number;
  /** Series with a number other than 0. */
  readonly series: readonly (readonly [name: string, joining: Joining, values: readonly number[]])[];
}

/** Of a monotonic clock, whole seconds. */
export interface Span {
  /** Included; negative before the clock began. */
  readonly fromS: number;
  /** Excluded. */
  readonly toS: number;
  /** Below 10, only the last hour is known. Otherwise a multiple of 10. */
  readonly stepS: number;
}

/** Series of whole numbers from 0 to 2^32 - 1. */
export class Slots {
  readonly #series = new Map<string, Series>();
  /** The last second that was sampled. */
  #lastS: number | undefined;

  constructor() {
    this.cell(PRESENT, 'sum');
  }

  get bytes(): number {
    return this.#series.size * SERIES_BYTES;
  }

  /** The series with this name, made if there is none. Its memory stays. */
  cell(name: string, joining: Joining): Cell {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    const made = {
      pending: 0,
      joining,
      fine: new Uint32Array(FINE.slots),
      coarse: new Uint32Array(COARSE.slots),
    };
    this.#series.set(name, made);
    return made;
  }

  /** Moves pending counts into the slot of this second, which has just ended. */
  sample(second: number): void {
    if (second < (this.#lastS ?? 0)) return;
    this.#clearUpTo(second);
    this.#lastS = second;
    this.cell(PRESENT, 'sum').pending = 1;
    for (const series of this.#series.values()) {
      add(series.fine, second, FINE.slotS, series);
      add(series.coarse, second, COARSE.slotS, series);
      series.pending = 0;
    }
  }

  read({ fromS, toS, stepS }: Span): Stretch {
    const { slotS, slots } = stepS < COARSE.slotS ? FINE : COARSE;
    const beginS = Math.floor(fromS / stepS) * stepS;
    const points = Math.max(0, Math.ceil((toS - beginS) / stepS));
    const lastSlot = Math.floor((this.#lastS ?? -1) / slotS);
    // A machine that was booted less than a span ago has no seconds for its begin.
    const firstSlot = Math.max(0, lastSlot - slots + 1, Math.floor(beginS / slotS));
    const endSlot = Math.min(lastSlot, Math.floor((beginS + points * stepS) / slotS) - 1);
    const perPoint = stepS / slotS;
    const series: [string, Joining, number[]][] = [];
    for (const [name, { joining, fine, coarse }] of this.#series) {
      const ring = slotS === FINE.slotS ? fine : coarse;
      const values = new Array<number>(points).fill(0);
      let isEmpty = true;
      for (let slot = firstSlot; slot <= endSlot; slot++) {
        const value = ring[slot % slots] as number;
        if (value === 0) continue;
        isEmpty = false;
        const point = Math.floor((slot - beginS / slotS) / perPoint);
        values[point] = joined(joining, values[point] as number, value);
      }
      if (!isEmpty) series.push([name, joining, values]);
    }
    return { fromS: beginS, stepS, points, series };
  }

  /** The slots in between belong to seconds in which nothing was sampled. */
  #clearUpTo(second: number): void {
    const lastS = this.#lastS ?? second;
    for (const { slotS, slots } of [FINE, COARSE]) {
      const last = Math.floor(second / slotS);
      const first = Math.max(Math.floor(lastS / slotS) + 1, last - slots + 1);
      for (let slot = first; slot <= last; slot++) {
        for (const { fine, coarse } of this.#series.values())
          (slotS === FINE.slotS ? fine : coarse)[slot % slots] = 0;
      }
    }
  }
}

const MAX_VALUE = 2 ** 32 - 1;

export const joined = (joining: Joining, a: number, b: number): number =>
  joining === 'sum' ? a + b : Math.max(a, b);

function add(ring: Uint32Array, second: number, slotS: number, { joining, pending }: Series): void {
  if (pending === 0) return;
  const at = Math.floor(second / slotS) % ring.length;
  ring[at] = Math.min(MAX_VALUE, joined(joining, ring[at] as number, Math.round(pending)));
}
