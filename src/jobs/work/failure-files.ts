// SPDX-License-Identifier: Apache-2.0
import type { ErrorBody } from '../../base/contract/error-bodies.js';
import { catalogue, type ErrorKey } from '../../base/errors/catalogue.js';
import type { Logger } from '../../base/observe/log.js';
import { orAborted } from '../../base/outgoing/call-clock.js';
import { isTransient } from '../../state/database/database.js';
import { refusalOf } from '../../state/database/write-problem.js';
import type { Job } from '../queue/job.js';
import { resultObjectOf } from '../queue/job-text.js';
import type { JobWorkTable } from '../queue/job-work-table.js';

export interface FailureFilesParts {
  readonly workTable: Pick<JobWorkTable, 'takeFailureFile' | 'endFailureFile'>;
  /** Rejects with ServiceError. */
  readonly store: (name: string, body: object) => Promise<void>;
  readonly log: Logger;
}

/** Longer than outages. */
const ABANDONED_MS = 3 * 86_400_000;

/** Failures of the storage as a whole, which others meet too. */
const outages: ReadonlySet<ErrorKey> = new Set(['STORAGE_UNAVAILABLE', 'STORAGE_FAILED']);

/** Stores the failures of jobs whose clients wait for the file of a result, also after an outage of the storage or a worker's death. */
export class FailureFiles {
  readonly #parts: FailureFilesParts;
  readonly #stopping = new AbortController();
  #round: Promise<void> | undefined;

  constructor(parts: FailureFilesParts) {
    this.#parts = parts;
  }

  /** Call it when a job has failed, and now and then for failures that could not be stored, or whose process died. */
  look(): void {
    if (this.#stopping.signal.aborted) return;
    this.#round ??= this.#storeAll();
  }

  /** Leaves the rest to later looks. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('The server stops.'));
    await this.#round;
  }

  /** @returns whether others may be stored now @throws DatabaseError, or the signal's reason */
  async #store(job: Job): Promise<boolean> {
    const { workTable, store, log } = this.#parts;
    const { signal } = this.#stopping;
    const { id, finishedAtMs = 0 } = job;
    try {
      await orAborted(signal, store(resultObjectOf(job) ?? '', bodyOf(job)));
    } catch (error) {
      if (signal.aborted) throw error;
      const { key: errorKey, cause: err } = refusalOf(error);
      log.warn({ job: id, errorKey, err }, "a job's failure could not be stored yet");
      if (Date.now() - finishedAtMs < ABANDONED_MS) return !outages.has(errorKey);
    }
    await workTable.endFailureFile(job);
    return true;
  }

  async #storeAll(): Promise<void> {
    try {
      for (;;) {
        const job = await this.#parts.workTable.takeFailureFile();
        if (job === undefined || !(await this.#store(job))) return;
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#parts.log[isTransient(error) ? 'warn' : 'error']({ err: error }, 'failures could not be stored');
    } finally {
      this.#round = undefined;
    }
  }
}

function bodyOf({ id, failure }: Job): ErrorBody {
  const { code: key = 'INTERNAL', message = '' } = failure ?? {};
  // A version before this one may have had others.
  const { code, status } = catalogue[key as ErrorKey] ?? catalogue.INTERNAL;
  return { error: code as ErrorBody['error'], message, status, correlation_id: id };
}
