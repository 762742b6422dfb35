// SPDX-License-Identifier: Apache-2.0
import type { SourceParts } from '../../api/routes/job-source.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { BatchDesk, BatchWork } from '../../state/jobs/batch-desk.js';
import type { LineEnd, NewLine } from '../../state/jobs/batch-lines.js';
import { WorkLost } from '../../state/jobs/job.js';
import { batchSource, type JobSource } from '../../state/jobs/job-text.js';
import { newLine } from './manifest-lines.js';
import { manifestRecords, textOf } from './manifest-records.js';

export interface TenderParts extends SourceParts {
  readonly desk: BatchDesk;
  /** Rejects with ServiceError. */
  readonly openSource: (source: JobSource, signal: AbortSignal) => Promise<ByteSource>;
  /** Stores an object, whole or not at all. */
  readonly writeFrom: (name: string, pieces: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly maxLines: number;
  /** Resolves when lines may have ended, or after a while. */
  readonly nextLook: (signal: AbortSignal) => Promise<void>;
}

export type BatchTurn = 'succeeded' | 'failed' | 'retried' | 'given back' | 'lost';

const LINES_AT_ONCE = 500;
const PIECE_CHARS = 256 * 1024;

/**
 * Brings one batch to its end: reads the manifest into the table, keeps the queue filled with its lines, and writes the result. What
 * it does is saved step by step, so that another tender can go on.
 * @throws DatabaseError
 */
export async function tendBatch(
  work: BatchWork,
  parts: TenderParts,
  stopping: AbortSignal,
): Promise<BatchTurn> {
  const { desk } = parts;
  try {
    await readManifest(work, parts, stopping);
    for (;;) {
      stopping.throwIfAborted();
      const counts = await desk.feed(work);
      if (counts.waiting === 0 && counts.open === 0) break;
      await desk.renew(work, (counts.succeeded + counts.failed) / counts.lines);
      await parts.nextLook(stopping);
    }
    const { resultFolder, resultKey = `batches/${work.job.id}.jsonl` } = batchSource(work.job.source);
    const counts = { lines: 0, succeeded: 0, failed: 0 };
    await parts.writeFrom(`${resultFolder}/${resultKey}`, resultPieces(work, desk, counts));
    await desk.succeed(work, JSON.stringify({ ...counts, result_key: resultKey }));
    return 'succeeded';
  } catch (error) {
    return await endOf(work, desk, error, stopping);
  }
}

async function readManifest(work: BatchWork, parts: TenderParts, signal: AbortSignal): Promise<void> {
  const { desk, maxLines } = parts;
  const { manifest } = batchSource(work.job.source);
  const source = manifest && (await parts.openSource(manifest, signal));
  try {
    const text = source ? textOf(source, signal) : oneBlock((await desk.manifestOf(work)) ?? '');
    let count = 0;
    let lines: NewLine[] = [];
    const save = async (): Promise<void> => {
      await desk.addLines(work, count - lines.length + 1, lines);
      lines = [];
    };
    for await (const record of manifestRecords(text)) {
      signal.throwIfAborted();
      if (++count > maxLines) {
        throw new ServiceError('MANIFEST_INVALID', { problem: `it has more than ${maxLines} lines` });
      }
      // An earlier tender has read it.
      if (count <= work.linesRead) continue;
      lines.push(await newLine(record, work.job, parts));
      if (lines.length === LINES_AT_ONCE) await save();
    }
    if (lines.length > 0) await save();
  } finally {
    await source?.close();
  }
}

async function* oneBlock(text: string): AsyncGenerator<string, void, void> {
  yield text;
}

/** JSON lines, in the order of the manifest. */
async function* resultPieces(
  work: BatchWork,
  desk: BatchDesk,
  counts: { lines: number; succeeded: number; failed: number },
): AsyncGenerator<Uint8Array, void, void> {
  let text = '';
  for await (const end of desk.ends(work)) {
    counts.lines++;
    counts[end.state === 'succeeded' ? 'succeeded' : 'failed']++;
    text += `${resultLine(end)}\n`;
    if (text.length < PIECE_CHARS) continue;
    yield Buffer.from(text);
    text = '';
    // A sign of life: a long result takes longer than a lease.
    await desk.renew(work, 1);
  }
  yield Buffer.from(text);
}

const resultLine = ({ line, label, state, failure, result }: LineEnd): string =>
  JSON.stringify({
    line,
    ...(JSON.parse(label) as object),
    state,
    error: failure === undefined ? null : { key: failure.code, message: failure.message },
    result: result === undefined ? null : (JSON.parse(result) as object),
  });

function endOf(work: BatchWork, desk: BatchDesk, error: unknown, stopping: AbortSignal): Promise<BatchTurn> {
  const told: Promise<BatchTurn> =
    error instanceof WorkLost
      ? Promise.reject(error)
      : stopping.aborted
        ? desk.giveBack(work).then(() => 'given back')
        : tellFailure(work, desk, error);
  return told.catch((lost) => {
    if (lost instanceof WorkLost) return 'lost';
    throw lost;
  });
}

async function tellFailure(work: BatchWork, desk: BatchDesk, cause: unknown): Promise<BatchTurn> {
  const failure = cause instanceof ServiceError ? cause : new ServiceError('INTERNAL', {}, { cause });
  const { key: code, message, status } = failure;
  // What the client did wrong stays wrong.
  const canRetry = status >= 500 || [408, 429].includes(status);
  return (await desk.fail(work, { code, message }, canRetry)) ? 'retried' : 'failed';
}
