// SPDX-License-Identifier: Apache-2.0
//
// Two models over the same samples. Both see every draw of the bootstrap, so the difficulty of samples cancels.
import { bootstrapIntervals, defaultBootstrap } from './bootstrap.js';
import { MIN_GROUPS, tooFew } from './few-groups.js';
import { areaUnderCurve, equalErrorPoint } from './figures.js';
import { differenceInterval } from './interval-without-width.js';
import { mcnemarP } from './mcnemar.js';
import { RankedScores } from './ranked-scores.js';
import type { Comparison, Difference } from './report.js';
import { balanceGroupOf, type Sample, type Task, unitOf } from './sample.js';
import { rounded, roundedInterval } from './share.js';
import { weightedErrors } from './weighted-errors.js';

export interface ComparedModel {
  readonly id: string;
  readonly fingerprint: string;
  readonly threshold: number;
  /** By the names of samples. */
  readonly scores: ReadonlyMap<string, number>;
}

type Values = Readonly<Record<'eer' | 'auc' | 'fpr' | 'fnr', number | undefined>>;

/**
 * @param samples with the scores of the evaluated model; samples that the other one has not scored are left out
 * @returns differences are the other model's figure less that of the evaluated one
 */
export function compareModels(
  task: Task,
  samples: readonly Sample[],
  threshold: number,
  other: ComparedModel,
  bootstrap = defaultBootstrap,
): Comparison {
  const paired = samples.filter(({ name }) => other.scores.has(name));
  const isPositive = paired.map((sample) => sample.isPositive);
  const first = judged(
    paired.map(({ score }) => score),
    isPositive,
    threshold,
  );
  const second = judged(
    paired.map(({ name }) => other.scores.get(name) as number),
    isPositive,
    other.threshold,
  );
  const units = paired.map((sample) => comparedUnitOf(task, sample));
  const everything = new Float64Array(paired.length).fill(1);
  const [mine, theirs] = [first.under(everything), second.under(everything)];
  const intervals = bootstrapIntervals(
    units,
    isPositive,
    (weights) => differencesOf(first.under(weights), second.under(weights)),
    bootstrap,
  );
  const unitsOf = (positive: boolean): number =>
    new Set(units.filter((_, i) => isPositive[i] === positive)).size;
  const fewest = { fpr: unitsOf(false), fnr: unitsOf(true) };
  const both = Math.min(fewest.fpr, fewest.fnr);
  const isSame = paired.every(({ name, score }) => other.scores.get(name) === score);
  const difference = (name: keyof Values, unitCount: number): Difference | null => {
    const [value, compared] = [mine[name], theirs[name]];
    if (value === undefined || compared === undefined) return null;
    const interval = unitCount >= MIN_GROUPS ? intervals[name] : undefined;
    return {
      model: rounded(value),
      other: rounded(compared),
      value: rounded(compared - value),
      interval_95: interval
        ? roundedInterval(isSame ? interval : differenceInterval(compared - value, interval, unitCount))
        : null,
    };
  };
  const mcnemarOf = (isCounted: (i: number) => boolean) => {
    const only = (one: Judged, another: Judged): number =>
      paired.filter((_, i) => isCounted(i) && one.wrong[i] && !another.wrong[i]).length;
    const [onlyModel, onlyOther] = [only(first, second), only(second, first)];
    return {
      only_model: onlyModel,
      only_other: onlyOther,
      p_value: Number(mcnemarP(onlyModel, onlyOther).toPrecision(6)),
    };
  };
  return {
    id: other.id,
    fingerprint: other.fingerprint,
    threshold: other.threshold,
    compared: paired.length,
    left_out: samples.length - paired.length,
    why_no_intervals: tooFew('an interval', both, 'systems or sources of each class'),
    eer: difference('eer', both),
    auc: difference('auc', both),
    fpr: difference('fpr', fewest.fpr),
    fnr: difference('fnr', fewest.fnr),
    mcnemar: {
      all: mcnemarOf(() => true),
      positive: mcnemarOf((i) => isPositive[i] === true),
      negative: mcnemarOf((i) => isPositive[i] === false),
    },
  };
}

/** The system or the source; if a list names none, and for trials, the unit of other intervals. */
function comparedUnitOf(task: Task, sample: Sample): string {
  const { system = '', source = '' } = sample.columns;
  const isNamed = task === 'detection' && (source !== '' || (sample.isPositive && system !== ''));
  return isNamed ? balanceGroupOf(task, sample) : unitOf(task, sample);
}

interface Judged {
  readonly wrong: readonly boolean[];
  under(weights: Float64Array): Values;
}

function judged(scores: readonly number[], isPositive: readonly boolean[], threshold: number): Judged {
  const ranked = new RankedScores(scores, isPositive);
  const wrong = scores.map((score, i) => score >= threshold !== isPositive[i]);
  return {
    wrong,
    under(weights) {
      const rates = ranked.errorRates(weights);
      return {
        eer: rates && equalErrorPoint(rates).rate,
        auc: rates && areaUnderCurve(rates),
        fpr: weightedErrors(weights, wrong, isPositive, false),
        fnr: weightedErrors(weights, wrong, isPositive, true),
      };
    },
  };
}

function differencesOf(first: Values, second: Values): Values {
  const less = (name: keyof Values): number | undefined => {
    const [a, b] = [first[name], second[name]];
    return a === undefined || b === undefined ? undefined : b - a;
  };
  return { eer: less('eer'), auc: less('auc'), fpr: less('fpr'), fnr: less('fnr') };
}
