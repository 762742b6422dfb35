// SPDX-License-Identifier: Apache-2.0
import type { ScoredWindow } from './windows.js';

export interface Difference {
  readonly startS: number;
  readonly endS: number;
  readonly first: ScoredWindow;
  readonly second: ScoredWindow;
}

export interface Comparison {
  /** Windows that both models have judged. */
  readonly shared: number;
  /** Windows with different verdicts, in the order of time. */
  readonly disagreements: readonly Difference[];
  /** Mean of the absolute differences of the scores; undefined without shared windows. */
  readonly meanDifference: number | undefined;
  /** The window with the largest difference. */
  readonly largest: Difference | undefined;
}

const place = ({ startS, endS }: ScoredWindow): string => `${startS}-${endS}`;

/** Two models on one recording: windows are cut alike, but either model may have skipped some. */
export function compared(first: readonly ScoredWindow[], second: readonly ScoredWindow[]): Comparison {
  const others = new Map(second.map((window) => [place(window), window]));
  const pairs = first.flatMap((window): Difference[] => {
    const other = others.get(place(window));
    if (other === undefined) return [];
    return [{ startS: window.startS, endS: window.endS, first: window, second: other }];
  });
  const size = (pair: Difference): number => Math.abs(pair.first.score - pair.second.score);
  const sum = pairs.reduce((total, pair) => total + size(pair), 0);
  return {
    shared: pairs.length,
    disagreements: pairs.filter((pair) => pair.first.result !== pair.second.result),
    meanDifference: pairs.length === 0 ? undefined : sum / pairs.length,
    largest: pairs.reduce<Difference | undefined>(
      (most, pair) => (most === undefined || size(pair) > size(most) ? pair : most),
      undefined,
    ),
  };
}
