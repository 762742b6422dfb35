// SPDX-License-Identifier: Apache-2.0
import { CsvError, parse } from 'csv-parse/sync';
import { groupedBy } from './grouped.js';
import type { Columns, Task } from './sample.js';

/** The list cannot be used; the message says which line or column is wrong. */
export class ListError extends Error {
  override readonly name = 'ListError';
}

/** A clip, or a trial of verification. */
export interface ListedSample {
  readonly isPositive: boolean;
  readonly columns: Columns;
  /** The column `score`, if the list has one; undefined if its cell is empty. */
  readonly score: number | undefined;
}

export interface LabelledList {
  readonly task: Task;
  /** In the order of the header. */
  readonly columns: readonly string[];
  /** Samples that fulfil every condition. */
  readonly samples: readonly ListedSample[];
  /** True if scores are listed, so that no analysis is needed. */
  readonly isScored: boolean;
}

/** Keeps the rows with this value in this column. */
export interface Condition {
  readonly column: string;
  readonly value: string;
}

/** The labels of each task, and whether they are positive; `spoofed` is the word of the API's answers. */
const labels: Readonly<Record<Task, ReadonlyMap<string | undefined, boolean>>> = {
  detection: new Map([
    ['spoof', true],
    ['spoofed', true],
    ['bonafide', false],
  ]),
  verification: new Map([
    ['target', true],
    ['nontarget', false],
  ]),
};

/** More wrong lines than these are only counted. */
const MAX_SHOWN_LINES = 20;

/** The columns that a list of each task must have. */
const required: Readonly<Record<Task, readonly string[]>> = {
  detection: ['path', 'label'],
  verification: ['enrolment', 'sample', 'label'],
};

/** @returns undefined if the text is not `column=value` */
export function parseCondition(text: string): Condition | undefined {
  const at = text.indexOf('=');
  return at < 1 ? undefined : { column: text.slice(0, at), value: text.slice(at + 1) };
}

/**
 * Reads a list of labelled clips (columns `path`, `label`) or of verification trials (`enrolment`, `sample`, `label`), as
 * CSV after RFC 4180 in UTF-8 with a header.
 * @param where conditions on one column are alternatives, those on several columns must all hold
 * @throws ListError
 */
export function parseList(text: string, where: readonly Condition[] = []): LabelledList {
  const { columns, rows } = parseCsv(text);
  const task = taskOf(columns);
  for (const { column } of where) {
    if (columns.includes(column)) continue;
    throw new ListError(`There is no column ${column} to select rows by. Columns: ${columns.join(', ')}.`);
  }
  const alternatives = groupedBy(where, ({ column }) => column);
  const chosen = rows.filter(({ record }) =>
    [...alternatives].every(([column, any]) => any.some(({ value }) => record[column] === value)),
  );
  const isScored = columns.includes('score');
  const problems = chosen.flatMap((row) => problemsOf(task, isScored, row));
  if (problems.length > 0) throw new ListError(shownLines(problems));
  const samples = chosen.map(({ record }) => toSample(task, isScored, record));
  return { task, columns, samples, isScored };
}

function shownLines(problems: readonly string[]): string {
  const more = problems.length - MAX_SHOWN_LINES;
  return [...problems.slice(0, MAX_SHOWN_LINES), ...(more > 0 ? [`And ${more} more.`] : [])].join('\n');
}

interface Row {
  readonly line: number;
  readonly record: Columns;
}

function parseCsv(text: string): { columns: readonly string[]; rows: readonly Row[] } {
  let columns: readonly string[] = [];
  try {
    const parsed = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      columns: (header: readonly string[]) => {
        columns = header.map((name) => name.trim());
        return [...columns];
      },
    }) as unknown as readonly { info: { lines: number }; record: Columns }[];
    const twice = columns.find((name, i) => columns.indexOf(name) !== i);
    if (twice !== undefined) throw new ListError(`The column ${twice} appears twice.`);
    return { columns, rows: parsed.map(({ info, record }) => ({ line: info.lines, record })) };
  } catch (error) {
    if (error instanceof CsvError)
      throw new ListError(`This is not CSV: ${error.message}.`, { cause: error });
    throw error;
  }
}

function taskOf(columns: readonly string[]): Task {
  const tasks = Object.keys(required) as Task[];
  const task = tasks.findLast((candidate) => required[candidate].every((name) => columns.includes(name)));
  if (task !== undefined) return task;
  const expected = tasks.map((candidate) => required[candidate].join(', ')).join(' or ');
  throw new ListError(`Expected a header with ${expected} but received ${columns.join(', ') || 'none'}.`);
}

function problemsOf(task: Task, isScored: boolean, { line, record }: Row): string[] {
  const { label, score = '' } = record;
  const problems = required[task]
    .filter((name) => name !== 'label' && record[name] === '')
    .map((name) => `the column ${name} is empty.`);
  if (!labels[task].has(label)) {
    const expected = [...labels[task].keys()].join(' or ');
    problems.push(`expected ${expected} for label but received ${shown(label)}.`);
  }
  if (isScored && score.trim() !== '' && !(Number(score) >= 0 && Number(score) <= 1)) {
    problems.push(`expected a number from 0 to 1 for score but received ${shown(score)}.`);
  }
  return problems.map((problem) => `Line ${line}: ${problem}`);
}

function toSample(task: Task, isScored: boolean, columns: Columns): ListedSample {
  const { score = '' } = columns;
  return {
    isPositive: labels[task].get(columns.label) === true,
    columns,
    score: isScored && score.trim() !== '' ? Number(score) : undefined,
  };
}

const shown = (text: string | undefined): string => (text ? JSON.stringify(text.slice(0, 60)) : 'nothing');
