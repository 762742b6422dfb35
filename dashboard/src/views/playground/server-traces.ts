// SPDX-License-Identifier: Apache-2.0
import type { Job, JobInput, JobOptions } from 'veravox-client';
import { randomId } from '../../../../client/src/random-id.js';
import { objectKeyOf } from '../../logic/snippets.js';
import type { Session } from '../../session.js';

export const ENTITY = 'playground';
/** As long as the largest upload may take. */
const UPLOAD_MS = 6 * 3_600_000;
const DISCARD = { timeoutMs: 30_000, maxRetries: 2 };

interface StoreOptions {
  readonly signal: AbortSignal;
  onProgress(progress: { readonly sentBytes: number; readonly totalBytes: number | undefined }): void;
}

/** Calls the public API for the user, with whatever session they have. */
export interface Caller extends Pick<Session, 'call'> {
  /** False until they have signed in again. */
  isSignedIn(): boolean;
}

/** The traces of one analysis on the server: a copy of the recording, and a job. They go with it, however it ends. */
export class ServerTraces {
  readonly #caller: Caller;
  #copy: string | undefined;
  #jobId: string | undefined;
  #isLetGo = false;
  #discarded: Promise<unknown> = Promise.resolve();

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Whether the job goes on however the page ends. */
  get isLetGo(): boolean {
    return this.#isLetGo;
  }

  /** The key of the stored recording, if there is one. */
  get copy(): string | undefined {
    return this.#copy;
  }

  /**
   * Stores the recording for the jobs of this analysis, which alone use the copy.
   * @returns its key
   * @throws VeravoxError; Error if the page cannot write to the storage; the signal's reason
   */
  async store(file: File, { signal, onProgress }: StoreOptions): Promise<string> {
    const key = `${randomId()}-${objectKeyOf(file.name)}`;
    const { url } = await this.#caller.call((client) =>
      client.createUploadLinks([key], { entity: ENTITY, signal }),
    );
    const [link] = url;
    if (link === undefined) throw new Error('The server answered without a link.');
    if (new URL(link.value).origin !== location.origin) {
      throw new Error(
        'The server stores files in a bucket, where this page cannot write. Upload the file with a program, and paste a link to it here.',
      );
    }
    // Known before the upload: one that is cancelled at its end may have arrived.
    this.#copy = key;
    await this.#caller.call((client) =>
      client.upload(link, file, { signal, timeoutMs: UPLOAD_MS, onUploadProgress: onProgress }),
    );
    return key;
  }

  /** Without a signal: a job whose id never came could not be cancelled. */
  async createJob(input: JobInput, options: Omit<JobOptions, 'signal'>): Promise<Job> {
    const job = await this.#caller.call((client) => client.createJob(input, options));
    this.#jobId = job.id;
    return job;
  }

  /** The job outlives the page. It reads the copy, which therefore stays until its end. */
  letGo(): void {
    this.#isLetGo = true;
  }

  /** There is no longer a job to cancel. */
  noteEnd(): void {
    this.#jobId = undefined;
  }

  /**
   * Cancels the job and deletes the copy. Call it when the analysis has ended, and also when the page is left: the requests are
   * sent before it is gone, if its key is still good.
   */
  async discard(): Promise<void> {
    const [jobId, copy] = [this.#jobId, this.#copy];
    if (this.#isLetGo && jobId !== undefined) return;
    this.#jobId = undefined;
    this.#copy = undefined;
    // The reader has their verdict, or their error: remaining traces are no reason for another one.
    this.#discarded = Promise.allSettled([
      this.#discarded,
      jobId !== undefined && this.#caller.call((client) => client.cancelJob(jobId, DISCARD)),
      copy !== undefined &&
        this.#caller.call((client) => client.deleteFiles([copy], { entity: ENTITY, ...DISCARD })),
    ]);
    await this.#discarded;
  }
}
