// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { orAborted } from '../../base/outgoing/call-clock.js';
import { storedJson } from '../../state/database/stored-json.js';
import { refusalOf } from '../../state/database/write-problem.js';
import type { LineEnd, NewLine } from '../queue/batch-lines.js';
import type { BatchWork, BatchWorkTable } from '../queue/batch-work-table.js';
import { WorkLost } from '../queue/job.js';
import { batchSource, type JobSource } from '../queue/job-text.js';
import type { SourceParts } from '../routes/job-source.js';
import { isWorthRetrying } from '../turns/is-worth-retrying.js';
import { LeaseRenewal, type OnLate } from '../turns/lease-renewal.js';
import { pacedFile } from '../turns/paced-file.js';
import { type TurnLimits, TurnOver, type TurnSlice } from '../turns/turn-slice.js';
import { newLine } from './manifest-lines.js';
import type { ManifestReader } from './manifest-reader.js';

export interface BatchWorkerParts extends SourceParts {
  readonly workTable: BatchWorkTable;
  /** Rejects with ServiceError. */
  readonly openSource: (source: JobSource, signal: AbortSignal) => Promise<ByteSource>;
  /** Stores an object, whole or not at all. */
  readonly writeFrom: (name: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>;
  readonly maxLines: number;
  readonly manifests: Pick<ManifestReader, 'records'>;
  /** Resolves when lines may have ended, or after a while. */
  readonly nextLook: (signal: AbortSignal) => Promise<void>;
  /** Between two signs of life. */
  readonly heartbeatMs: number;
  readonly onLate?: OnLate;
}

export type BatchTurn = 'succeeded' | 'failed' | 'retried' | 'given back' | 'lost';

const LINES_AT_ONCE = 500;
const PIECE_CHARS = 256 * 1024;
const BLOCK_BYTES = 1 << 20;
const MAX_MANIFEST_BYTES = 256 << 20;

/**
 * Brings one batch to its end, or leaves it for later if other accounts wait: reads the manifest into the table, keeps the
 * queue filled with its lines, and writes the result. Progress is saved step by step, so that another worker can go on.
 * @throws DatabaseError
 */
export async function runBatch(
  work: BatchWork,
  parts: BatchWorkerParts,
  { stopping, slice }: TurnLimits,
): Promise<BatchTurn> {
  const { workTable } = parts;
  // A manifest may come slowly, and a result take long to write.
  const renewal = new LeaseRenewal(() => workTable.renew(work), parts.heartbeatMs, parts.onLate);
  const signal = AbortSignal.any([stopping, renewal.signal]);
  try {
    if (!batchSource(work.job).isRead) await readManifest(work, parts, { signal, slice });
    for (;;) {
      signal.throwIfAborted();
      const counts = await workTable.feed(work);
      if (counts.waiting === 0 && counts.open === 0) break;
      slice.checkpoint();
      await parts.nextLook(signal);
    }
    const { resultFolder, resultKey = `batches/${work.job.id}.jsonl` } = batchSource(work.job);
    const counts = { lines: 0, succeeded: 0, failed: 0 };
    const pieces = resultPieces(work, workTable, counts, signal);
    await orAborted(signal, parts.writeFrom(`${resultFolder}/${resultKey}`, pieces, signal));
    await workTable.succeed(work, JSON.stringify({ ...counts, result_key: resultKey }));
    return 'succeeded';
  } catch (error) {
    return await endOf(work, parts, renewal.failure ?? error, stopping);
  } finally {
    renewal.stop();
  }
}

async function readManifest(
  work: BatchWork,
  parts: BatchWorkerParts,
  { signal, slice }: { signal: AbortSignal; slice: TurnSlice },
): Promise<void> {
  const { workTable, maxLines, manifests } = parts;
  const { manifest } = batchSource(work.job);
  const source = manifest && pacedFile(await parts.openSource(manifest, signal), manifest, slice);
  const { identity } = source ?? {};
  try {
    // The lines in the table are of another file.
    if ((manifest?.identity ?? identity) !== identity) throw new ServiceError('FILE_CHANGED');
    const blocks = source ? blocksOf(source, signal) : oneBlock((await workTable.manifestOf(work)) ?? '');
    let count = 0;
    let lines: NewLine[] = [];
    const save = async (): Promise<void> => {
      await workTable.addLines(work, count - lines.length + 1, lines, identity);
      lines = [];
    };
    for await (const records of manifests.records(blocks)) {
      for (const record of records) {
        signal.throwIfAborted();
        if (++count > maxLines) throw invalid(`it has more than ${maxLines} lines`);
        // An earlier worker has read it.
        if (count <= work.linesRead) continue;
        lines.push(await newLine(record, work.job, parts));
        if (lines.length < LINES_AT_ONCE) continue;
        await save();
        slice.checkpoint();
      }
    }
    if (lines.length > 0) await save();
    await workTable.endReading(work);
  } finally {
    await source?.close();
  }
}

const invalid = (problem: string): ServiceError => new ServiceError('MANIFEST_INVALID', { problem });

/** @throws ServiceError MANIFEST_INVALID, or as the source does */
async function* blocksOf(source: ByteSource, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  if (source.bytes > MAX_MANIFEST_BYTES) throw invalid(`it has more than ${MAX_MANIFEST_BYTES} bytes`);
  for (let offset = 0; offset < source.bytes; offset += BLOCK_BYTES) {
    const block = new Uint8Array(Math.min(BLOCK_BYTES, source.bytes - offset));
    await source.read(block, offset, signal);
    yield block;
  }
}

async function* oneBlock(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(text);
}

/** JSON lines, in the order of the manifest. */
async function* resultPieces(
  work: BatchWork,
  workTable: BatchWorkTable,
  counts: { lines: number; succeeded: number; failed: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let text = '';
  for await (const end of workTable.ends(work)) {
    signal.throwIfAborted();
    counts.lines++;
    counts[end.state === 'succeeded' ? 'succeeded' : 'failed']++;
    text += `${resultLine(work.job.id, end)}\n`;
    if (text.length < PIECE_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  signal.throwIfAborted();
  // If the batch is no longer this worker's, its lines may be gone: the upload fails instead of ending early.
  await workTable.renew(work);
  yield Buffer.from(text);
}

const resultLine = (batchId: string, { line, label, state, failure, result }: LineEnd): string => {
  const placeOf = (column: string) => ({ table: 'jobs', column, row: `${batchId}, line ${line}` });
  return JSON.stringify({
    line,
    ...storedJson(label, placeOf('label')),
    state,
    error: failure === undefined ? null : { key: failure.code, message: failure.message },
    result: result === undefined ? null : storedJson(result, placeOf('result')),
  });
};

function endOf(
  work: BatchWork,
  { workTable }: BatchWorkerParts,
  error: unknown,
  stopping: AbortSignal,
): Promise<BatchTurn> {
  const told: Promise<BatchTurn> =
    error instanceof WorkLost
      ? Promise.reject(error)
      : stopping.aborted || error instanceof TurnOver
        ? workTable.giveBack(work).then(() => 'given back')
        : tellFailure(work, workTable, error);
  return told.catch((lost) => {
    if (lost instanceof WorkLost) return 'lost';
    throw lost;
  });
}

async function tellFailure(work: BatchWork, workTable: BatchWorkTable, cause: unknown): Promise<BatchTurn> {
  const failure = refusalOf(cause);
  const { key: code, message } = failure;
  const isRetried = await workTable.fail(work, { code, message }, isWorthRetrying(cause, failure));
  return isRetried ? 'retried' : 'failed';
}
