// SPDX-License-Identifier: Apache-2.0
//
// This room computes figures from labelled scores: error rates, thresholds, calibration and intervals. All
// of it is pure functions.
import type { Interval } from '../../base/proportion.js';
import { type BootstrapSettings, bootstrapIntervals, defaultBootstrap } from './bootstrap.js';
import { thinned } from './curve.js';
import { MIN_GROUPS, tooFew } from './few-groups.js';
import {
  areaUnderCurve,
  asvspoof5Cost,
  type CostSetting,
  equalErrorPoint,
  minDetectionCost,
  nistCosts,
} from './figures.js';
import { groupedBy } from './grouped.js';
import { groupsOf } from './groups.js';
import {
  costInterval,
  eerInterval,
  pairsInterval,
  shareInterval,
  type UnitCounts,
} from './interval-without-width.js';
import { mostWrong } from './most-wrong.js';
import { probabilityQuality } from './probability-quality.js';
import { type ErrorRates, RankedScores } from './ranked-scores.js';
import type { ErrorShare, Failure, Figure, Findings, ListedShare } from './report.js';
import { balanceGroupOf, classNames, type Sample, type Task, unitOf } from './sample.js';
import { rounded, roundedInterval, shareOf } from './share.js';
import { listedThresholds, ratesAt, whyNoIntervals } from './threshold-table.js';
import { weightedErrors } from './weighted-errors.js';

/** A clip or a trial that has no score, and why. */
export interface FailedSample {
  readonly name: string;
  readonly isPositive: boolean;
  readonly code: string;
  readonly message: string;
}

export interface EvaluationOptions {
  readonly task: Task;
  /** 0..1 */
  readonly threshold: number;
  readonly groupColumns: readonly string[];
  readonly bootstrap?: BootstrapSettings;
}

const HISTOGRAM_BINS = 20;

/**
 * Every figure that follows from the scores.
 * @param samples at least one
 */
export function evaluate(
  samples: readonly Sample[],
  failed: readonly FailedSample[],
  { task, threshold, groupColumns, bootstrap = defaultBootstrap }: EvaluationOptions,
): Findings {
  const scores = samples.map(({ score }) => score);
  const isPositive = samples.map((sample) => sample.isPositive);
  const positive = isPositive.filter(Boolean).length;
  const negative = samples.length - positive;
  const ranked = new RankedScores(scores, isPositive);
  const rates = ranked.errorRates();
  const units = samples.map((sample) => unitOf(task, sample));
  const unitsOf = (positives: boolean): number =>
    new Set(units.filter((_, i) => isPositive[i] === positives)).size;
  const unitCounts = { positive: unitsOf(true), negative: unitsOf(false) };
  const figures = figuresOf(task, samples, ranked, threshold, unitCounts.negative);
  const intervals = bootstrapIntervals(units, isPositive, figures.under, bootstrap);
  const values = figures.under(new Float64Array(samples.length).fill(1));
  const figure = (
    name: string,
    intervalOf: (value: number, drawn: Interval, units: UnitCounts) => Interval,
  ): Figure | null => {
    const [value, drawn] = [values[name], intervals[name]];
    return value === undefined || drawn === undefined
      ? null
      : { value: rounded(value), interval_95: roundedInterval(intervalOf(value, drawn, unitCounts)) };
  };
  const unitsOfRate = { fpr: unitCounts.negative, fnr: unitCounts.positive };
  const errors = (name: 'fpr' | 'fnr', of: number): ErrorShare | null => {
    const interval = intervals[name];
    if (of === 0 || interval === undefined) return null;
    const count = samples.filter(
      (sample) => sample.isPositive === (name === 'fnr') && isWrong(sample, threshold),
    ).length;
    const overUnits = shareInterval(count / of, interval, unitsOfRate[name]);
    return { ...shareOf(count, of), interval_95_units: roundedInterval(overUnits) };
  };
  const noIntervals = whyNoIntervals(task, unitCounts);
  const thresholds = figures.thresholds.listed.flatMap(({ threshold: at, targetFpr }, k) => {
    const listed = (name: 'fpr' | 'fnr', of: number): ListedShare | undefined => {
      const [value, interval] = [values[`${name} ${k}`], intervals[`${name} ${k}`]];
      if (value === undefined || interval === undefined) return undefined;
      const isGiven = noIntervals[name] === null;
      return {
        ...shareOf(Math.round(value * of), of),
        interval_95_units: isGiven
          ? roundedInterval(shareInterval(value, interval, unitsOfRate[name]))
          : null,
      };
    };
    const [fpr, fnr] = [listed('fpr', negative), listed('fnr', positive)];
    return fpr && fnr ? [{ threshold: at, target_fpr: targetFpr, fpr, fnr }] : [];
  });
  const eer = figure('eer', eerInterval);
  const quality = probabilityQuality(scores, isPositive);
  const inside = figure('inside', pairsInterval);
  return {
    task,
    classes: classNames[task],
    counts: {
      positive,
      negative,
      failed: failed.length,
      positive_units: unitCounts.positive,
      negative_units: unitCounts.negative,
    },
    failures: failuresByCode(failed),
    overall: {
      // Infinity if every score is below; no threshold above 1 can be asked for.
      eer:
        eer && rates ? { ...eer, threshold: Math.min(1, rounded(equalErrorPoint(rates).threshold)) } : null,
      auc: figure('auc', pairsInterval),
      eer_groups_alike: figure('eerAlike', eerInterval),
      auc_groups_alike: figure('aucAlike', pairsInterval),
      groups_alike_why_not: figures.alikeWhyNot,
      min_dcf: rates
        ? costSettings[task].map(({ name, cMiss, cFalseAlarm, prior, costs }) => ({
            name,
            c_miss: cMiss,
            c_fa: cFalseAlarm,
            prior,
            ...(figure(name, (cost, drawn, units) => costInterval(cost, drawn, costs, units)) as Figure),
          }))
        : null,
    },
    at_threshold: {
      threshold,
      accuracy: shareOf(samples.filter((sample) => !isWrong(sample, threshold)).length, samples.length),
      fpr: errors('fpr', negative),
      fnr: errors('fnr', positive),
    },
    thresholds,
    thresholds_not_given: {
      targets: rates
        ? figures.thresholds.unsupported.map(({ targetFpr, whyNot }) => ({
            target_fpr: targetFpr,
            why_not: whyNot,
          }))
        : [],
      fpr_intervals_why_not: rates ? noIntervals.fpr : null,
      fnr_intervals_why_not: rates ? noIntervals.fnr : null,
    },
    most_wrong: mostWrong(task, samples, threshold),
    inside_one_source:
      figures.sources.length === 0
        ? null
        : {
            value: inside?.value ?? null,
            interval_95: inside?.interval_95 ?? null,
            why_not: tooFew('a mean', figures.sources.length, 'sources with both classes'),
            sources: figures.sources,
          },
    calibration: {
      expected_calibration_error: rounded(quality.expectedCalibrationError),
      brier: rounded(quality.brier),
      log_loss: rounded(quality.logLoss),
      bins: quality.bins.map(({ from, to, count, meanScore, positiveShare, interval }) => ({
        from,
        to,
        count,
        mean_score: rounded(meanScore),
        positive_share: rounded(positiveShare),
        interval_95: roundedInterval(interval),
      })),
    },
    groups: groupsOf(samples, groupColumns, (sample) => isWrong(sample, threshold)),
    histogram: { positive: histogram(samples, true), negative: histogram(samples, false) },
    curve: rates
      ? thinned(rates).map(({ threshold: at, ...point }) => ({ threshold: Math.min(1, at), ...point }))
      : [],
  };
}

const isWrong = ({ score, isPositive }: Sample, threshold: number): boolean =>
  score >= threshold !== isPositive;

const costSettings: Readonly<Record<Task, readonly CostSetting[]>> = {
  detection: [asvspoof5Cost],
  verification: nistCosts,
};

/** The figures as functions of how often each sample counts. */
function figuresOf(
  task: Task,
  samples: readonly Sample[],
  ranked: RankedScores,
  threshold: number,
  negativeUnits: number,
) {
  const { alike, whyNot: alikeWhyNot } = weightsAlike(task, samples);
  const isPositive = samples.map((sample) => sample.isPositive);
  const scores = samples.map(({ score }) => score);
  const sources = sourcesWithBoth(samples).map(([source, members]) => ({
    source,
    members,
    ranked: new RankedScores(scores, isPositive, members),
  }));
  const wrong = samples.map((sample) => isWrong(sample, threshold));
  const mean = (values: readonly number[]): number | undefined =>
    sources.length < MIN_GROUPS || values.length === 0
      ? undefined
      : values.reduce((sum, value) => sum + value, 0) / values.length;
  const areas = (weights?: Float64Array) =>
    sources.map((entry) => whenDefined(entry.ranked.errorRates(weights), areaUnderCurve));

  const measured = areas();
  const thresholds = listedThresholds(task, scores, isPositive, threshold, negativeUnits);
  return {
    alikeWhyNot,
    thresholds,
    sources: sources.map(({ source, members }, k) => ({
      source,
      positive: members.filter((i) => isPositive[i]).length,
      negative: members.filter((i) => !isPositive[i]).length,
      auc: rounded(measured[k] as number),
    })),
    under(weights: Float64Array): Readonly<Record<string, number | undefined>> {
      const rates = ranked.errorRates(weights);
      const ratesAlike =
        alike && ranked.errorRates(weights.map((weight, i) => weight * (alike[i] as number)));
      const eer = (of: ErrorRates) => equalErrorPoint(of).rate;
      return {
        eer: whenDefined(rates, eer),
        auc: whenDefined(rates, areaUnderCurve),
        eerAlike: whenDefined(ratesAlike, eer),
        aucAlike: whenDefined(ratesAlike, areaUnderCurve),
        inside: mean(areas(weights).filter((area) => area !== undefined)),
        fpr: weightedErrors(weights, wrong, isPositive, false),
        fnr: weightedErrors(weights, wrong, isPositive, true),
        ...(rates &&
          Object.fromEntries(
            thresholds.listed.flatMap(({ threshold: at }, k) => {
              const { fpr, fnr } = ratesAt(rates, at);
              return [
                [`fpr ${k}`, fpr],
                [`fnr ${k}`, fnr],
              ];
            }),
          )),
        ...Object.fromEntries(
          costSettings[task].map(({ name, costs }) => [
            name,
            whenDefined(rates, (of) => minDetectionCost(of, costs)),
          ]),
        ),
      };
    },
  };
}

function whenDefined(
  rates: ErrorRates | undefined,
  figure: (rates: ErrorRates) => number,
): number | undefined {
  return rates && figure(rates);
}

/** Weights that let every group of a class count alike, or why a class has too few groups for that. */
function weightsAlike(
  task: Task,
  samples: readonly Sample[],
): { alike: number[] | undefined; whyNot: string | null } {
  const names = samples.map((sample) => balanceGroupOf(task, sample));
  // Samples without a name count together like one group, as in `models calibrate`.
  const groups = names.map((name, i) => `${samples[i]?.isPositive} ${name}`);
  const sizes = new Map<string, number>();
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const groupsOfClass = (positive: boolean): number =>
    new Set(names.filter((name, i) => name !== '' && samples[i]?.isPositive === positive)).size;
  const whyNot =
    tooFew(
      'a mean',
      groupsOfClass(true),
      task === 'detection' ? 'systems of generated clips' : 'sources of right speakers',
    ) ??
    tooFew(
      'a mean',
      groupsOfClass(false),
      task === 'detection' ? 'sources of human clips' : 'sources of strangers',
    );
  return {
    alike: whyNot === null ? groups.map((group) => 1 / (sizes.get(group) as number)) : undefined,
    whyNot,
  };
}

/** The indices of the samples of each source that has both classes. */
function sourcesWithBoth(samples: readonly Sample[]): [source: string, members: number[]][] {
  return [...groupedBy(samples.keys(), (i) => samples[i]?.columns.source || undefined)]
    .filter(([, members]) => new Set(members.map((i) => samples[i]?.isPositive)).size === 2)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function histogram(samples: readonly Sample[], positives: boolean): number[] {
  const counts = new Array<number>(HISTOGRAM_BINS).fill(0);
  for (const { score, isPositive } of samples) {
    if (isPositive !== positives) continue;
    const bin = Math.min(HISTOGRAM_BINS - 1, Math.floor(score * HISTOGRAM_BINS));
    counts[bin] = (counts[bin] as number) + 1;
  }
  return counts;
}

/** The most frequent first. */
function failuresByCode(failed: readonly FailedSample[]): Failure[] {
  return [...groupedBy(failed, ({ code }) => code)]
    .map(([code, all]) => ({
      code,
      positive: all.filter(({ isPositive }) => isPositive).length,
      negative: all.filter(({ isPositive }) => !isPositive).length,
      files: all.map(({ name, message }) => ({ name, message })),
    }))
    .sort((a, b) => b.files.length - a.files.length);
}
