// SPDX-License-Identifier: Apache-2.0

export type Task = 'detection' | 'verification';

/** The names of the two answers to a task's question, as in the column `label`. */
export interface ClassNames {
  readonly positive: string;
  readonly negative: string;
}

export const classNames = {
  detection: { positive: 'spoof', negative: 'bonafide' },
  verification: { positive: 'target', negative: 'nontarget' },
} as const satisfies Record<Task, ClassNames>;

/** The columns of a row other than its label, as texts. */
export type Columns = Readonly<Record<string, string>>;

/** A clip or a trial that has a score. */
export interface Sample {
  /** Tells it apart from the others. */
  readonly name: string;
  readonly isPositive: boolean;
  /** 0..1: the probability of being AI-generated, or the similarity. */
  readonly score: number;
  /** Of the clip, or of the trial's sample; undefined if it was not measured. */
  readonly durationS: number | undefined;
  readonly columns: Columns;
  /** Of the verdict; undefined for trials, and if it was not noted. */
  readonly confidence?: number | undefined;
  /** Why the verdict needs caution, null if nothing does; undefined as for `confidence`. */
  readonly reason?: string | null | undefined;
}

/** Default columns for figures by group, if a list has them. */
export const usualGroupColumns = [
  'system',
  'source',
  'category',
  'family',
  'language',
  'original_format',
  'condition',
] as const;

/** Made of the measured duration, even if the list has such a column. */
export const DURATION_COLUMN = 'duration';

/** The reason of the verdict. */
export const REASON_COLUMN = 'reason';
const NO_REASON = 'no reason';

const durationBordersS = [2, 5, 10, 30];

/** The bucket of a duration, such as `5 to 10 s`; the lower border belongs to it. */
export function durationBucket(durationS: number): string {
  const above = durationBordersS.find((border) => durationS < border);
  const from = durationBordersS.findLast((border) => durationS >= border);
  if (from === undefined) return `under ${above} s`;
  return above === undefined ? `${from} s and more` : `${from} to ${above} s`;
}

/** The value of a sample in a column, or in the made one; undefined if it has none. */
export function valueIn({ columns, durationS, reason }: Sample, column: string): string | undefined {
  if (column === REASON_COLUMN && reason !== undefined) return reason ?? NO_REASON;
  if (column === DURATION_COLUMN) return durationS === undefined ? undefined : durationBucket(durationS);
  return columns[column] || undefined;
}

/**
 * The unit whose samples are alike, for intervals: the generator of a spoof, the speaker of a human clip, or at least the
 * source; the enrolled speaker of a trial, or the enrolment. The sample itself if the list does not say.
 */
export function unitOf(task: Task, { columns, isPositive, name }: Sample): string {
  const { system = '', source = '', speaker = '', enrolment = '' } = columns;
  if (task === 'verification') return speaker === '' ? `enrolment ${enrolment}` : `speaker ${speaker}`;
  if (isPositive && system !== '') return `system ${system}`;
  // The same name in two sources need not be the same person.
  if (!isPositive && speaker !== '') return `speaker ${speaker} of ${source}`;
  return source === '' ? `clip ${name}` : `source ${source}`;
}

/**
 * The group whose samples count alike, whatever their number: the generator of a spoof, else the source. Empty if the list
 * does not say.
 */
export function balanceGroupOf(task: Task, { columns, isPositive }: Sample): string {
  const { system = '', source = '' } = columns;
  if (task === 'detection' && isPositive && system !== '') return `system ${system}`;
  return source === '' ? '' : `source ${source}`;
}
