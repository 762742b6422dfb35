// SPDX-License-Identifier: Apache-2.0
//
// Scores as a list of their own: the output of `evaluate --scores`, and an input of both commands in place of files to score.
import type { ScoringModel } from '../../state/operating-points/operating-point.js';
import { type LabelledList, ListError } from '../figures/labelled-list.js';
import { type Columns, REASON_COLUMN, type Task } from '../figures/sample.js';
import { isFailed, type ScoredRow } from './scored-rows.js';

/** The model behind scores, and the threshold of its verdicts. */
interface Scorer {
  readonly model: ScoringModel;
  readonly threshold: number;
}

/** Of verdicts, which trials do not have. */
const verdictColumns = {
  confidence: ({ outcome }: ScoredRow) => (isFailed(outcome) ? '' : `${outcome.confidence ?? ''}`),
  [REASON_COLUMN]: ({ outcome }: ScoredRow) => (isFailed(outcome) ? '' : (outcome.reason ?? '')),
  // The one behind the other two.
  threshold: ({ outcome }: ScoredRow, { threshold }: Scorer) =>
    isFailed(outcome) || outcome.confidence === undefined ? '' : String(threshold),
} as const;

/** Behind the list's own columns. */
const columns = {
  score: ({ outcome }: ScoredRow) => (isFailed(outcome) ? '' : String(outcome.score)),
  audio_duration: ({ outcome }: ScoredRow) =>
    isFailed(outcome) || outcome.durationS === undefined ? '' : String(outcome.durationS),
  error: ({ outcome }: ScoredRow) => (isFailed(outcome) ? outcome.code : ''),
  message: ({ outcome }: ScoredRow) => (isFailed(outcome) ? outcome.message : ''),
  model: (_: ScoredRow, { model: { id } }: Scorer) => id,
  model_fingerprint: (_: ScoredRow, { model: { scoreFingerprint } }: Scorer) => scoreFingerprint,
} as const;

/** After RFC 4180. */
const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const columnsFor = (task: Task) => {
  const { score, ...others } = columns;
  return { score, ...(task === 'detection' && verdictColumns), ...others };
};

/** @throws ListError if `scoresCsv` would replace columns that are not its own */
export function refuseReplaced({ task, columns: own, isScored }: LabelledList): void {
  if (isScored) return;
  const made = columnsFor(task);
  const replaced = own.filter((name) => Object.hasOwn(made, name));
  if (replaced.length === 0) return;
  throw new ListError(
    `--scores writes columns of its own under these names, so rename yours: ${replaced.join(', ')}.`,
  );
}

/** The list again, with the outcome of each row. */
export function scoresCsv(list: LabelledList, rows: readonly ScoredRow[], scorer: Scorer): string {
  const all = columnsFor(list.task);
  const own = list.columns.filter((name) => !Object.hasOwn(all, name));
  const made = Object.values(all);
  const lines = rows.map((row) => [
    ...own.map((name) => row.listed.columns[name] ?? ''),
    ...made.map((textOf) => textOf(row, scorer)),
  ]);
  return [[...own, ...Object.keys(all)], ...lines].map((line) => `${line.map(field).join(',')}\n`).join('');
}

/** The key that tells the rows of a list apart. */
export const nameOf = (task: Task, { path = '', enrolment, sample }: Columns): string =>
  task === 'detection' ? path : `${enrolment} | ${sample}`;

/**
 * The id of the model that gave the scores of a list.
 * @throws ListError if the list does not say, or there were several
 */
export function modelOfScores({ samples, columns: own }: LabelledList): string {
  if (!own.includes('model') || !own.includes('model_fingerprint')) {
    throw new ListError(
      'The column score needs the columns model and model_fingerprint, as --scores writes them. To score the files again, rename it.',
    );
  }
  const ids = new Set(samples.map(({ columns: { model = '' } }) => model));
  const [id = '', ...others] = ids;
  if (others.length > 0) throw new ListError(`The scores come from several models: ${[...ids].join(', ')}.`);
  return id;
}

/**
 * The rows of a list with the scores that it has.
 * @throws ListError if the model has changed since it gave them
 */
export function listedScores({ task, samples }: LabelledList, { model, threshold }: Scorer): ScoredRow[] {
  return samples.map((listed): ScoredRow => {
    const { isPositive, columns: own, score } = listed;
    if (own.model_fingerprint !== model.scoreFingerprint) {
      throw new ListError(
        `The weights, the recipe or the calibration of ${model.id} changed after these scores: score the files again.`,
      );
    }
    const name = nameOf(task, own);
    if (score === undefined) {
      const { error, message } = own;
      const failure = { code: error || 'NO_SCORE', message: message || 'The list has no score for it.' };
      return { listed, outcome: { name, isPositive, ...failure } };
    }
    const durationS = own.audio_duration ? Number(own.audio_duration) : undefined;
    const scored = { name, isPositive, score, durationS };
    if (task === 'verification') return { listed, outcome: { ...scored, columns: own } };
    // At another threshold, confidence and reason would differ.
    if (!own.confidence || own.threshold !== String(threshold))
      return { listed, outcome: { ...scored, columns: { ...own, [REASON_COLUMN]: '' } } };
    const verdict = { confidence: Number(own.confidence), reason: own.reason || null };
    return { listed, outcome: { ...scored, columns: own, ...verdict } };
  });
}
