// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { ServedModels } from '../../analysis/served/served-models.js';
import type { Config } from '../../base/config/options.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Logger } from '../../base/observe/log.js';
import { orAborted } from '../../base/outgoing/call-clock.js';
import { isTransient } from '../../state/database/database.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { S3Storage } from '../../state/storage/s3-storage.js';
import type { AwaitedUpload, AwaitedUploads } from '../queue/awaited-uploads.js';
import type { JobParts } from '../queue/job-parts.js';
import type { JobTable } from '../queue/job-table.js';
import { createUploadJob, smallestAnalysed } from '../routes/upload-jobs.js';

export interface UploadWatchParts {
  readonly awaited: AwaitedUploads;
  readonly bucket: Pick<S3Storage, 'stateOf'>;
  readonly jobs: JobTable;
  /** Of the bucket. */
  readonly home: string;
  readonly detectors: () => readonly DetectorNames[];
  /** Smaller ones are not analysed. */
  readonly minBytes: number;
  /** Between two rounds. */
  readonly everyMs: number;
  readonly log: Logger;
}

const EVERY_MS = 1000;

/** That of this process; undefined if nothing has to be looked for. */
export function startUploadWatch({
  config,
  jobParts: { awaitedUploads: awaited, jobs },
  files: { bucket, home },
  models,
  log,
}: {
  readonly config: Config;
  readonly jobParts: JobParts;
  readonly files: Pick<FileStore, 'bucket' | 'home'>;
  readonly models: () => ServedModels;
  readonly log: Logger;
}): UploadWatch | undefined {
  const minBytes = smallestAnalysed(config);
  if (bucket === undefined || minBytes === undefined) return undefined;
  const detectors = () => models().status().detectors;
  return new UploadWatch({ awaited, bucket, home, jobs, detectors, minBytes, everyMs: EVERY_MS, log });
}

/** Uploads per round, and how many of them are asked for at once. */
const PER_ROUND = 64;
const AT_ONCE = 8;

/** So far a signature's time may be ahead of the clock of the storage, or the link does not work. */
const CLOCK_SKEW_MS = 15 * 60_000;
/** Clocks that are kept. */
const SMALL_SKEW_MS = 5000;

/** Looks for uploads in a bucket, and makes jobs of the ones with automatic analysis. */
export class UploadWatch {
  readonly #parts: UploadWatchParts;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #round: Promise<void> | undefined;

  constructor(parts: UploadWatchParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      this.#round ??= this.#look().finally(() => {
        this.#round = undefined;
      });
    }, parts.everyMs);
  }

  /** Leaves what it has not looked at to later looks. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error('The server stops.'));
    await this.#round;
  }

  async #look(): Promise<void> {
    const { awaited, log } = this.#parts;
    try {
      const uploads = await awaited.due(PER_ROUND);
      const looking = Array.from({ length: AT_ONCE }, async () => {
        for (let upload = uploads.pop(); upload !== undefined; upload = uploads.pop()) {
          if (this.#stopping.signal.aborted) return;
          await this.#lookAt(upload);
        }
      });
      await Promise.all(looking);
    } catch (error) {
      if (isTransient(error))
        log.warn({ err: error }, 'cannot look for uploads: the database is unavailable');
      else log.error({ err: error }, 'could not look for uploads');
    }
  }

  /** @throws DatabaseError */
  async #lookAt(upload: AwaitedUpload): Promise<void> {
    const { awaited, log } = this.#parts;
    let isDone = upload.isOver;
    try {
      isDone = (await this.#tryToAnalyse(upload)) || isDone;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (!(error instanceof ServiceError)) throw error;
      if (error.key !== 'OBJECT_NOT_FOUND') {
        // It may be there: it is looked for again, past its end too.
        isDone = upload.isAbandoned;
        log.warn({ errorKey: error.key, err: error.cause }, 'an upload could not become a job yet');
      }
    }
    if (isDone) await awaited.forget(upload);
  }

  /** @returns whether there is nothing more to wait for */
  async #tryToAnalyse({ name, account, keyId, askedAtMs }: AwaitedUpload): Promise<boolean> {
    const { bucket, home, jobs, detectors, minBytes } = this.#parts;
    const {
      bytes,
      etag,
      storedAtMs = askedAtMs,
    } = await orAborted(this.#stopping.signal, bucket.stateOf(name));
    // It was there before.
    if (storedAtMs < askedAtMs - CLOCK_SKEW_MS) return false;
    // An earlier one may be replaced by a larger one through this link. Buckets do not say when an empty one was stored.
    if (bytes < minBytes) return bytes > 0 && storedAtMs >= askedAtMs - SMALL_SKEW_MS;
    const version = createHash('sha256')
      .update(JSON.stringify([name, etag, bytes, storedAtMs]))
      .digest('hex');
    try {
      const { isNew } = await createUploadJob(jobs, detectors(), {
        name,
        home,
        owner: { account, keyId },
        // With a space, which those of clients cannot have.
        idempotencyKey: `upload ${version}`,
      });
      return isNew;
    } catch (error) {
      // It was analysed before, with another model.
      if (error instanceof ServiceError && error.key === 'IDEMPOTENCY_KEY_REUSED') return false;
      throw error;
    }
  }
}
