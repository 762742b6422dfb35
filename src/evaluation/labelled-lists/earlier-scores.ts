// SPDX-License-Identifier: Apache-2.0
import { readNamed } from '../../base/errors/read-named.js';
import { ListError, parseList } from '../figures/labelled-list.js';
import type { Task } from '../figures/sample.js';
import { isFailed, type ScoredRow } from './scored-rows.js';
import { modelOfScores, nameOf } from './scores-file.js';

/** Scores of a model, by the names of samples. */
export interface NamedScores {
  readonly id: string;
  readonly fingerprint: string;
  readonly scores: ReadonlyMap<string, number>;
}

export function namedScores(rows: readonly ScoredRow[]): Map<string, number> {
  return new Map(
    rows.flatMap(({ outcome }) => (isFailed(outcome) ? [] : [[outcome.name, outcome.score] as const])),
  );
}

/**
 * Scores that an earlier run wrote, perhaps of a model that is no longer there.
 * @throws ListError if the file has no scores, scores of several models, or is a list of the other kind
 */
export async function earlierScores(file: string, task: Task): Promise<NamedScores> {
  const list = parseList((await readNamed(file)).toString());
  if (!list.isScored) throw new ListError(`${file} has no column score, as --scores writes it.`);
  if (list.task !== task) throw new ListError(`${file} is a list of ${list.task}, not of ${task}.`);
  const id = modelOfScores(list);
  const fingerprints = new Set(list.samples.map(({ columns }) => columns.model_fingerprint ?? ''));
  const [fingerprint = '', ...others] = fingerprints;
  if (others.length > 0) throw new ListError(`The scores in ${file} come from several versions of ${id}.`);
  const scores = new Map<string, number>();
  for (const { columns, score } of list.samples) {
    const name = nameOf(task, columns);
    if (scores.has(name)) throw new ListError(`${file} has ${name} twice.`);
    if (score !== undefined) scores.set(name, score);
  }
  return { id, fingerprint, scores };
}
