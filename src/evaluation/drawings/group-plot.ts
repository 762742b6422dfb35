// SPDX-License-Identifier: Apache-2.0
import type { Findings, GroupClass } from '../figures/report.js';
import { percent, percentTick } from './frame.js';
import { type Drawing, dot, label, line } from './svg.js';
import { errorNames } from './wording.js';

const WIDTH = 940;
const rowHeight = 20;
const top = 76;
const left = 330;
const right = WIDTH - 150;
/** More rows than this nobody reads; the tables have all of them. */
const MAX_ROWS = 40;
const MAX_NAME_CHARS = 44;

interface Row {
  readonly kind: 'positive' | 'negative';
  readonly name: string;
  readonly members: GroupClass;
}

/** The groups of a column, the largest share of errors first. */
export function rowsOf({ groups }: Findings, column: string): Row[] {
  return groups
    .filter((group) => group.column === column)
    .flatMap(({ value, positive, negative }) => [
      ...(positive ? [{ kind: 'positive' as const, name: value, members: positive }] : []),
      ...(negative ? [{ kind: 'negative' as const, name: value, members: negative }] : []),
    ])
    .sort((a, b) => b.members.errors.value - a.members.errors.value || b.members.count - a.members.count);
}

/** Share of errors at the threshold per group of a column, with Wilson intervals. */
export function groupPlot(findings: Findings, column: string): Drawing {
  const rows = rowsOf(findings, column);
  const shown = rows.slice(0, MAX_ROWS);
  const bottom = top + shown.length * rowHeight;
  const x = (share: number): number => left + share * (right - left);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      line(x(share), top - 6, x(share), bottom, 'grid') +
      label(x(share), bottom + 16, percentTick(share), 'middle', 'muted'),
  );
  const marks = shown.map(({ kind, name, members: { errors } }, i) => {
    const y = top + (i + 0.5) * rowHeight;
    const [low, high] = errors.interval_95;
    const text = `${percent(errors.value)} of ${errors.of}`;
    return (
      label(left - 10, y + 4, shortened(name), 'end') +
      line(x(low), y, x(high), y, `${kind} whisker`) +
      dot(x(errors.value), y, kind, `${name}: ${text}`) +
      label(right + 12, y + 4, text, 'start', 'muted')
    );
  });
  const { classes, task } = findings;
  const names = errorNames[task];
  const rest = rows.length - shown.length;
  const title = `Errors by ${column}${rest > 0 ? `, the worst ${MAX_ROWS} of ${rows.length}` : ''}`;
  const kinds = [
    { kind: 'negative' as const, text: `${classes.negative}: ${names.fpr}` },
    { kind: 'positive' as const, text: `${classes.positive}: ${names.fnr}` },
  ].filter(({ kind }) => shown.some((row) => row.kind === kind));
  const legend = kinds.map(
    ({ kind, text }, i) => dot(left + i * 250, 49, kind, text) + label(left + i * 250 + 10, 53, text),
  );
  return {
    name: `errors-by-${column.replaceAll(/[^a-z0-9_-]/gi, '-')}`,
    title,
    width: WIDTH,
    height: bottom + 30,
    content: [...legend, ...ticks, ...marks].join(''),
  };
}

const shortened = (name: string): string =>
  name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, MAX_NAME_CHARS - 1)}…`;
