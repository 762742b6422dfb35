// SPDX-License-Identifier: Apache-2.0
import type { Queries, Row, Transaction } from '../../state/database/database.js';
import type { BatchProgress } from '../contract/job.js';
import type { JobFailure } from './job.js';

/** The lines of a batch by what became of them. */
export interface BatchCounts {
  readonly lines: number;
  /** Neither in the queue nor in work. */
  readonly waiting: number;
  /** In the queue or in work. */
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** A line of a manifest. */
export interface NewLine {
  /** JSON: what names it in the result. Holds no secret. */
  readonly label: string;
  /** JSON as in a job, or why it is none. */
  readonly work:
    | { readonly source: string; readonly home?: string | undefined; readonly parameters: string }
    | { readonly failure: JobFailure };
}

/** A line of the result. */
export interface LineEnd {
  readonly line: number;
  readonly label: string;
  readonly state: string;
  readonly failure: JobFailure | undefined;
  /** JSON */
  readonly result: string | undefined;
}

export async function countLines(queries: Queries, batchId: string): Promise<BatchCounts> {
  const rows = await queries.query<{ state: string; lines: number }>(
    'SELECT state, COUNT(*) AS lines FROM jobs WHERE batch_id = $1 GROUP BY state',
    [batchId],
  );
  const of = (...states: string[]): number =>
    rows.reduce((sum, { state, lines }) => sum + (states.includes(state) ? lines : 0), 0);
  return {
    lines: rows.reduce((sum, { lines }) => sum + lines, 0),
    waiting: of('waiting'),
    open: of('queued', 'running'),
    succeeded: of('succeeded'),
    failed: of('failed', 'cancelled'),
  };
}

/** Lines after that one, in their order. */
export async function endedLines(
  queries: Queries,
  batchId: string,
  afterLine: number,
  limit: number,
): Promise<LineEnd[]> {
  const rows = await queries.query<
    Row & {
      line: number;
      label: string;
      state: string;
      failure_code: string | null;
      failure_message: string | null;
      result: string | null;
    }
  >(
    'SELECT line, label, state, failure_code, failure_message, result FROM jobs ' +
      `WHERE batch_id = $1 AND line > $2 ORDER BY line LIMIT ${limit}`,
    [batchId, afterLine],
  );
  return rows.map(({ line, label, state, failure_code: code, failure_message, result }) => ({
    line,
    label,
    state,
    failure: code === null ? undefined : { code, message: failure_message ?? '' },
    result: result ?? undefined,
  }));
}

/**
 * In the transaction that ends a batch without a result: keeps the counts of its lines, and removes the few in the queue or in work,
 * whose workers stop within seconds. `BatchWorkTable.tidy` removes the others.
 * @returns the counts, as JSON
 */
export async function endLines(transaction: Transaction, batchId: string): Promise<string> {
  const { lines, succeeded } = await countLines(transaction, batchId);
  const counts: BatchProgress = { lines, succeeded, failed: lines - succeeded, result_key: null };
  const result = JSON.stringify(counts);
  await transaction.execute('UPDATE jobs SET result = $2 WHERE id = $1 AND result IS NULL', [
    batchId,
    result,
  ]);
  await transaction.execute("DELETE FROM jobs WHERE batch_id = $1 AND state IN ('queued', 'running')", [
    batchId,
  ]);
  await transaction.execute('DELETE FROM batch_manifests WHERE job_id = $1', [batchId]);
  return result;
}
