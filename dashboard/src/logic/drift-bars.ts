// SPDX-License-Identifier: Apache-2.0

/** One bin of two distributions. */
export interface DriftBar {
  /** Between which scores, such as `0.27 to 0.5`. */
  readonly scores: string;
  /** Shares of all scores, 0..1. */
  readonly reference: number;
  readonly current: number;
}

const probability = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** As few digits as tell neighbouring bins apart, also close to 0 and 1. */
function scoreText(score: number): string {
  const distance = Math.min(score, 1 - score);
  return score.toFixed(Math.max(2, Math.ceil(-Math.log10(distance)) + 1));
}

const shareOf = (counts: readonly number[]): ((bin: number) => number) => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (bin) => (total === 0 ? 0 : (counts[bin] ?? 0) / total);
};

/** @param logitEdges of the bins, of which there is one more */
export function driftBars(
  logitEdges: readonly number[],
  reference: readonly number[],
  current: readonly number[],
): DriftBar[] {
  const [before, now] = [shareOf(reference), shareOf(current)];
  const edges = logitEdges.map((edge) => scoreText(probability(edge)));
  return Array.from({ length: logitEdges.length + 1 }, (_, bin) => {
    const [lower, upper] = [edges[bin - 1], edges[bin]];
    const scores =
      lower === undefined
        ? `below ${upper}`
        : upper === undefined
          ? `${lower} and more`
          : `${lower} to ${upper}`;
    return { scores, reference: before(bin), current: now(bin) };
  });
}
