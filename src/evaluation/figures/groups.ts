// SPDX-License-Identifier: Apache-2.0
import { areaUnderCurve, equalErrorPoint } from './figures.js';
import { groupedBy } from './grouped.js';
import { RankedScores } from './ranked-scores.js';
import type { Group, GroupClass } from './report.js';
import { type Sample, valueIn } from './sample.js';
import { rounded, shareOf } from './share.js';

/** The samples of each value that occurs in a column, values in alphabetical order; samples without one are left out. */
export function groupsOf(
  samples: readonly Sample[],
  columns: readonly string[],
  isWrong: (sample: Sample) => boolean,
): Group[] {
  const scores = samples.map(({ score }) => score);
  const isPositive = samples.map((sample) => sample.isPositive);
  const all = samples.map((_, i) => i);
  const ofClass = {
    positive: all.filter((i) => isPositive[i]),
    negative: all.filter((i) => !isPositive[i]),
  };
  const figures = (members: readonly number[]): { eer: number; auc: number } | null => {
    const rates = new RankedScores(scores, isPositive, members).errorRates();
    return rates ? { eer: rounded(equalErrorPoint(rates).rate), auc: rounded(areaUnderCurve(rates)) } : null;
  };
  const groupClass = (own: readonly number[], others: readonly number[]): GroupClass | null => {
    if (own.length === 0) return null;
    const members = own.map((i) => samples[i] as Sample);
    const against = figures([...own, ...others]);
    return {
      count: own.length,
      mean_score: rounded(members.reduce((sum, { score }) => sum + score, 0) / own.length),
      errors: shareOf(members.filter(isWrong).length, own.length),
      eer: against?.eer ?? null,
      auc: against?.auc ?? null,
    };
  };
  return columns.flatMap((column) =>
    membersByValue(samples, column).map(([value, members]) => ({
      column,
      value,
      positive: groupClass(
        members.filter((i) => isPositive[i]),
        ofClass.negative,
      ),
      negative: groupClass(
        members.filter((i) => !isPositive[i]),
        ofClass.positive,
      ),
      within: figures(members),
    })),
  );
}

/** The indices of the samples of each value. */
function membersByValue(samples: readonly Sample[], column: string): [value: string, members: number[]][] {
  const members = groupedBy(samples.keys(), (i) => valueIn(samples[i] as Sample, column));
  return [...members].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
}
