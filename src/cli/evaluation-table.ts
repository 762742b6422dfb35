// SPDX-License-Identifier: Apache-2.0
import type { Colors } from 'picocolors/types.js';
import { joined, type Shown, shown, styled } from '../base/errors/shown-text.js';
import type { Comparison, Figure, ListedShare, Report, Share } from '../evaluation/figures/report.js';
import {
  columnsOf,
  comparisonRows,
  groupRows,
  meanInside,
  missingMeans,
  missingThresholds,
  wrongRow,
} from './report-rows.js';
import { errorNames, percent, rowNames } from './report-words.js';
import { textTable } from './text-table.js';

/** Largest number of groups per column here; JSON and HTML have all. */
const MAX_ROWS = 12;

/** Wrong verdicts here; JSON and HTML have up to 20 of each class. */
const MAX_WRONG = 10;

const decimals = (value: number): string => value.toFixed(3);
const range = ([low, high]: readonly [number, number], text: (value: number) => string): string =>
  `${text(low)} to ${text(high)}`;

/** A report as text for a terminal. */
export function evaluationTable(report: Report, colours: Colors): Shown {
  const { counts, classes, task, overall, at_threshold, inside_one_source, calibration } = report;
  const names = errorNames[task];
  const point = report.threshold_name === null ? '' : ` (${report.threshold_name})`;
  const failed = counts.failed > 0 ? `, ${counts.failed} without a score` : '';
  const heading = shown`${styled(colours.bold, report.model.id)}  ${report.list.file}  ${counts.negative} ${classes.negative}, ${counts.positive} ${classes.positive} ${rowNames[task]}${failed}\n`;
  const figures: string[][] = [
    ...figureRow('equal error rate', overall.eer, percent),
    ...figureRow('AUC', overall.auc, decimals),
    ...figureRow('EER, systems and sources alike', overall.eer_groups_alike, percent),
    ...figureRow('AUC, systems and sources alike', overall.auc_groups_alike, decimals),
    ...(overall.min_dcf ?? []).flatMap((cost) => figureRow(`minDCF (${cost.name})`, cost, decimals)),
    ...figureRow('mean AUC inside one source', meanInside(inside_one_source), decimals),
    ...shareRow(`accuracy at ${at_threshold.threshold}${point}`, at_threshold.accuracy),
    ...shareRow(names.fpr, at_threshold.fpr),
    ...shareRow(names.fnr, at_threshold.fnr),
    ['expected calibration error', percent(calibration.expected_calibration_error), '', ''],
    ['Brier score', decimals(calibration.brier), '', ''],
    ['log loss', decimals(calibration.log_loss), '', ''],
  ];
  const failures = report.failures.map(({ code, positive, negative }) => [
    code,
    `${negative}`,
    `${positive}`,
  ]);
  const parts = [
    heading,
    joined([
      textTable(['figure', '>value', '95 % interval', 'of'], figures),
      ...linesOf(missingMeans(report)),
    ]),
    thresholdTable(report),
    ...(report.most_wrong.length > 0 ? [mostWrongTable(report)] : []),
    ...(report.comparison === null ? [] : [comparisonTable(report, report.comparison)]),
    ...(failures.length > 0
      ? [textTable(['without a score', `>${classes.negative}`, `>${classes.positive}`], failures)]
      : []),
    ...columnsOf(report).map((column) => groupTable(report, column)),
    runLine(report),
  ];
  return joined(parts, '\n');
}

const linesOf = (lines: readonly string[]): Shown[] => lines.map((line) => shown`${line}\n`);

const figureRow = (name: string, figure: Figure | null, text: (value: number) => string): string[][] =>
  figure === null ? [] : [[name, text(figure.value), range(figure.interval_95, text), '']];

const shareRow = (name: string, share: Share | null): string[][] =>
  share === null
    ? []
    : [[name, percent(share.value), range(share.interval_95, percent), `${share.count} of ${share.of}`]];

function thresholdTable(report: Report): Shown {
  const { thresholds, task, at_threshold } = report;
  const names = errorNames[task];
  const cells = ({ value, interval_95_units }: ListedShare) => [
    percent(value),
    interval_95_units === null ? '' : range(interval_95_units, percent),
  ];
  const rows = thresholds.map(({ threshold, target_fpr, fpr, fnr }) => [
    `${threshold}`,
    target_fpr === null
      ? threshold === at_threshold.threshold
        ? 'used'
        : ''
      : `at most ${percent(target_fpr, 1)} ${names.fpr}`,
    ...cells(fpr),
    ...cells(fnr),
  ]);
  if (rows.length === 0) return shown``;
  const headings = ['>threshold', 'chosen for', `>${names.fpr}`, '95 % interval', `>${names.fnr}`];
  return joined([textTable([...headings, '95 % interval'], rows), ...linesOf(missingThresholds(report))]);
}

function mostWrongTable({ most_wrong, task }: Report): Shown {
  const rows = most_wrong.slice(0, MAX_WRONG).map(wrongRow);
  const rest = most_wrong.length - rows.length;
  const more = rest > 0 ? shown`${rest} more: see --html or --json.\n` : '';
  const first = `most confidently wrong ${rowNames[task]}`;
  const headings = [first, 'label', '>score', '>confidence', 'reason', 'system or source'];
  return joined([textTable(headings, rows), more]);
}

function comparisonTable({ task, model }: Report, comparison: Comparison): Shown {
  const { id, threshold, compared, left_out } = comparison;
  const { figures, tests, why_no_intervals } = comparisonRows(task, comparison);
  const missing = left_out > 0 ? `, ${left_out} without a score of it` : '';
  return joined([
    shown`Compared with ${id} at ${threshold}: ${compared} ${rowNames[task]}${missing}\n`,
    textTable(['figure', `>${model.id}`, `>${id}`, '>difference', '95 % interval'], figures),
    why_no_intervals === null ? '' : shown`No intervals: ${why_no_intervals}.\n`,
    shown`\n${textTable(['only one is wrong on', `>${model.id}`, `>${id}`, ">McNemar's p"], tests)}`,
  ]);
}

function groupTable(report: Report, column: string): Shown {
  const rows = groupRows(report, column);
  const cells = rows
    .slice(0, MAX_ROWS)
    .map(({ kind, name, members }) => [
      name,
      report.classes[kind],
      `${members.count}`,
      decimals(members.mean_score),
      percent(members.errors.value),
      range(members.errors.interval_95, percent),
      members.eer === null ? '' : percent(members.eer),
      members.auc === null ? '' : decimals(members.auc),
    ]);
  const rest = rows.length - cells.length;
  const more = rest > 0 ? shown`${rest} more with fewer errors: see --html or --json.\n` : '';
  const headings = [column, 'class', '>count', '>mean score', '>errors', '95 % interval', '>EER', '>AUC'];
  return joined([textTable(headings, cells), more]);
}

function runLine({ run }: Report): Shown {
  if (run === null) return shown``;
  const { files, audio_s, elapsed_s } = run;
  const speed = elapsed_s > 0 ? files / elapsed_s : 0;
  const realTime = elapsed_s > 0 ? audio_s / elapsed_s : 0;
  return shown`${files} files in ${elapsed_s.toFixed(1)} s: ${speed.toFixed(1)} files/s, ${realTime.toFixed(0)} times real time.\n`;
}
