// SPDX-License-Identifier: Apache-2.0
//
// Reports of `veravox evaluate --report`, read and put into words.
import { percent as inPercent } from './formats.js';
import { type Report, reportRules } from './report-format.js';
import { problemOf } from './rules.js';

export type { Report } from './report-format.js';
export type Group = Report['groups'][number];
export type GroupClass = NonNullable<Group['positive']>;
export type WrongSample = Report['most_wrong'][number];
export type Comparison = NonNullable<Report['comparison']>;
export type CurvePoint = Report['curve'][number];
export type Interval = readonly [number, number];

/** Names the fault of a file. */
export class ReportError extends Error {
  override readonly name = 'ReportError';
}

const NOT_A_REPORT = 'Expected a report of `veravox evaluate LIST.csv --report FILE`.';

/** @throws ReportError if the text is no such report */
export function reportOf(text: string): Report {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ReportError(`The file is not JSON. ${NOT_A_REPORT}`);
  }
  const version = (value as { readonly schema_version?: unknown } | null)?.schema_version;
  const known = reportRules.properties?.schema_version?.const;
  if (typeof version !== 'number') throw new ReportError(`The file is not a report. ${NOT_A_REPORT}`);
  if (version !== known) {
    throw new ReportError(
      `The report has version ${version} of its format, and this dashboard shows version ${known}. ` +
        'Make the report with the same version of veravox.',
    );
  }
  const problem = problemOf(value, reportRules);
  if (problem !== undefined) throw new ReportError(`The report is damaged: ${problem}.`);
  return value as Report;
}

export const scoreNames = {
  detection: 'score: how likely the voice is AI-generated',
  verification: 'similarity',
} as const;

export const rowNames = { detection: 'clips', verification: 'trials' } as const;

export const percent = (share: number, digits = 1): string => inPercent(share, digits);

export const percentSpan = ([low, high]: Interval): string => `${percent(low)} to ${percent(high)}`;

/** One class of a group, as a row. */
export interface GroupRow {
  readonly kind: 'positive' | 'negative';
  readonly value: string;
  readonly members: GroupClass;
}

/** The columns that have groups, in their order. */
export const columnsOf = ({ groups }: Report): string[] => [...new Set(groups.map(({ column }) => column))];

/** The groups of a column, the largest share of errors first. */
export const rowsOf = ({ groups }: Report, column: string): GroupRow[] =>
  groups
    .filter((group) => group.column === column)
    .flatMap(({ value, positive, negative }): GroupRow[] => [
      ...(positive ? [{ kind: 'positive' as const, value, members: positive }] : []),
      ...(negative ? [{ kind: 'negative' as const, value, members: negative }] : []),
    ])
    .sort((a, b) => b.members.errors.value - a.members.errors.value || b.members.count - a.members.count);

/** A difference with its sign. */
export const signed = (value: number, text: (of: number) => string): string =>
  `${value < 0 ? '-' : '+'}${text(Math.abs(value))}`;
