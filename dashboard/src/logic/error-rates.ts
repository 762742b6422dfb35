// SPDX-License-Identifier: Apache-2.0
//
// The error rates of a model: their names, and those of a detector at thresholds between the measured ones.

/** The two kinds of error, without jargon. */
export const errorNames = {
  detection: { fpr: 'human called spoofed', fnr: 'spoofed called human' },
  verification: { fpr: 'strangers accepted', fnr: 'right speaker rejected' },
} as const;

export interface RatesAt {
  readonly threshold: number;
  /** Human recordings called AI-generated, 0..1. */
  readonly fpr: number;
  /** AI-generated recordings that pass, 0..1. */
  readonly fnr: number;
}

/** Points with a threshold, by rising threshold. */
export const byThreshold = <Point extends { readonly threshold: number | null }>(
  points: readonly Point[],
): (Point & { readonly threshold: number })[] =>
  points
    .filter((point): point is Point & { readonly threshold: number } => point.threshold !== null)
    .sort((a, b) => a.threshold - b.threshold);

/** On the line between the neighbours; undefined outside the measured thresholds. @param points by rising threshold */
export function ratesAt(points: readonly RatesAt[], threshold: number): RatesAt | undefined {
  const after = points.findIndex((point) => point.threshold >= threshold);
  const upper = points[after];
  if (upper?.threshold === threshold) return upper;
  const lower = points[after - 1];
  if (upper === undefined || lower === undefined) return undefined;
  const share = (threshold - lower.threshold) / (upper.threshold - lower.threshold);
  const between = (a: number, b: number): number => a + share * (b - a);
  return { threshold, fpr: between(lower.fpr, upper.fpr), fnr: between(lower.fnr, upper.fnr) };
}

/** The measured threshold next to this one; undefined without any. */
export function nearest<Row extends { readonly threshold: number }>(
  rows: readonly Row[],
  threshold: number,
): Row | undefined {
  return rows.reduce<Row | undefined>(
    (best, row) =>
      best === undefined || Math.abs(row.threshold - threshold) < Math.abs(best.threshold - threshold)
        ? row
        : best,
    undefined,
  );
}
