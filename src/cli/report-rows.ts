// SPDX-License-Identifier: Apache-2.0
//
// Rows of a report for the terminal.
import { groupedBy } from '../evaluation/figures/grouped.js';
import type {
  Comparison,
  Difference,
  Figure,
  GroupClass,
  Report,
  WrongSample,
} from '../evaluation/figures/report.js';
import { errorNames, percent, rowNames } from './report-words.js';

const LOWEST_P = 1e-4;

/** The columns that have groups, in their order. */
export const columnsOf = ({ groups }: Report): string[] => [...new Set(groups.map(({ column }) => column))];

interface GroupRow {
  readonly kind: 'positive' | 'negative';
  readonly name: string;
  readonly members: GroupClass;
}

/** The groups of a column, those with the largest share of errors first. */
export function groupRows({ groups }: Report, column: string): GroupRow[] {
  return groups
    .filter((group) => group.column === column)
    .flatMap(({ value, positive, negative }) => [
      ...(positive ? [{ kind: 'positive' as const, name: value, members: positive }] : []),
      ...(negative ? [{ kind: 'negative' as const, name: value, members: negative }] : []),
    ])
    .sort((a, b) => b.members.errors.value - a.members.errors.value || b.members.count - a.members.count);
}

/** The mean inside one source as a figure, if there is one. */
export const meanInside = (inside: Report['inside_one_source']): Figure | null =>
  inside === null || inside.value === null || inside.interval_95 === null
    ? null
    : { value: inside.value, interval_95: inside.interval_95 };

/** A sentence per mean that has too few groups. */
export function missingMeans({ overall, inside_one_source }: Report): string[] {
  const reasons: readonly (readonly [string, string | null])[] = [
    ['EER and AUC, systems and sources alike', overall.groups_alike_why_not],
    ['mean AUC inside one source', inside_one_source?.why_not ?? null],
  ];
  return reasons.flatMap(([name, why]) => (why === null ? [] : [`Not given: ${name} (${why}).`]));
}

/** A sentence per reason for which the table of thresholds lacks rows or intervals. */
export function missingThresholds({ task, thresholds_not_given }: Report): string[] {
  const { targets, fpr_intervals_why_not, fnr_intervals_why_not } = thresholds_not_given;
  const names = errorNames[task];
  const rows = [...groupedBy(targets, ({ why_not }) => why_not)].map(([why, own]): [string, string] => [
    `a threshold for at most ${alternatives(own.map(({ target_fpr }) => percent(target_fpr)))} ${names.fpr}`,
    why,
  ]);
  const intervals: readonly (readonly [string, string | null])[] = [
    [`intervals of ${names.fpr}`, fpr_intervals_why_not],
    [`intervals of ${names.fnr}`, fnr_intervals_why_not],
  ];
  return [...rows, ...intervals].flatMap(([name, why]) =>
    why === null ? [] : [`Not given: ${name} (${why}).`],
  );
}

const alternatives = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;

const decimals = (value: number): string => value.toFixed(3);

/** A wrong verdict: its clip or trial, label, score, confidence, reason, and system or source. */
export const wrongRow = (wrong: WrongSample): string[] => [
  wrong.name,
  wrong.label,
  decimals(wrong.score),
  wrong.confidence === null ? '' : decimals(wrong.confidence),
  wrong.reason ?? '',
  wrong.system ?? wrong.source ?? '',
];

/** Both tables of a comparison as text. */
export function comparisonRows(task: Report['task'], comparison: Comparison) {
  const names = errorNames[task];
  const { eer, auc, fpr, fnr, mcnemar, why_no_intervals } = comparison;
  const counts = [
    [`all ${rowNames[task]}`, mcnemar.all],
    [names.fpr, mcnemar.negative],
    [names.fnr, mcnemar.positive],
  ] as const;
  return {
    why_no_intervals,
    figures: [
      ...differenceRow('equal error rate', eer, percent),
      ...differenceRow('AUC', auc, decimals),
      ...differenceRow(names.fpr, fpr, percent),
      ...differenceRow(names.fnr, fnr, percent),
    ],
    tests: counts.map(([name, { only_model, only_other, p_value }]) => [
      name,
      `${only_model}`,
      `${only_other}`,
      p_value < LOWEST_P ? `below ${LOWEST_P}` : p_value.toFixed(4),
    ]),
  };
}

function differenceRow(
  name: string,
  difference: Difference | null,
  text: (value: number) => string,
): string[][] {
  if (difference === null) return [];
  const { model, other, value, interval_95 } = difference;
  const signed = (of: number): string => `${of < 0 ? '-' : '+'}${text(Math.abs(of))}`;
  const interval = interval_95 === null ? '' : interval_95.map(signed).join(' to ');
  return [[name, text(model), text(other), signed(value), interval]];
}
