// SPDX-License-Identifier: Apache-2.0
import { outputSizeOf } from '../models/model-sizes.js';
import { BackgroundShare } from '../threads/background-share.js';
import { GroupedFairQueue } from '../threads/grouped-fair-queue.js';
import { ScoringOwner } from './scoring-owner.js';
import type { ScoringResult, ScoringWorkerData } from './scoring-task.js';

/** One model input that waits for what the model says of it. */
export interface ScoringJob {
  /** Index of the model in the manifest. */
  readonly model: number;
  readonly slot: number;
  /** performance.now() when it came. */
  readonly enqueuedMs: number;
  /** Called once, when a thread takes the job up. */
  started(waitedMs: number): void;
  /** `output` is what the model says of this input (see ScoringResult). */
  scored(output: Float64Array): void;
  failed(error: unknown): void;
}

export interface JobOwner {
  /** Groups take turns. */
  readonly group: string;
  /** Its jobs are taken up when no others wait, and now and then (see BackgroundShare). */
  readonly isBackground?: boolean;
}

export interface SchedulerOptions {
  readonly threads: number;
  /** Inputs per inference call at most. */
  readonly maxBatchInputs: number;
  /** The same for background jobs, whose batch keeps others waiting. */
  readonly maxBackgroundInputs: number;
  /** False as long as each input goes alone. */
  mayBatch(): boolean;
  /** How long an incomplete batch waits for more, in ms. */
  readonly batchWaitMs: number;
  /** Told of a thread that died while it had nothing to do, and is replaced. */
  onThreadError(error: unknown): void;
}

function nothing(): void {}

/** Of several queues, the one whose first job has waited longest. */
function oldestOf<Owner extends JobOwner>(
  queues: readonly GroupedFairQueue<Owner, ScoringJob>[],
): GroupedFairQueue<Owner, ScoringJob> | undefined {
  let oldest: GroupedFairQueue<Owner, ScoringJob> | undefined;
  let sinceMs = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    const first = queue.peek();
    if (first === undefined || first.enqueuedMs >= sinceMs) continue;
    oldest = queue;
    sinceMs = first.enqueuedMs;
  }
  return oldest;
}

/**
 * Hands inputs to the threads that own the models: batches across requests, fair between groups (keys) and between the
 * requests of each, one batch per thread at a time. Jobs of a request that nobody waits for any more are removed before they reach a batch.
 */
export class Scheduler<Owner extends JobOwner> {
  /** Resolves when every model is loaded and warm in each thread; nothing may be pushed before. */
  readonly ready: Promise<void>;
  readonly #options: SchedulerOptions;
  readonly #idle: ScoringOwner[];
  readonly #owners: readonly ScoringOwner[];
  readonly #queues: GroupedFairQueue<Owner, ScoringJob>[];
  readonly #backgroundQueues: GroupedFairQueue<Owner, ScoringJob>[];
  readonly #backgroundShare = new BackgroundShare();
  /** Numbers per input that each model gives. */
  readonly #outputSizes: readonly number[];
  #timer: NodeJS.Timeout | undefined;

  /** Starts the threads. */
  constructor(workerData: ScoringWorkerData, options: SchedulerOptions) {
    this.#owners = Array.from(
      { length: options.threads },
      () => new ScoringOwner(workerData, options.onThreadError),
    );
    this.#idle = [...this.#owners];
    this.#options = options;
    this.#outputSizes = workerData.models.map(outputSizeOf);
    this.#queues = this.#outputSizes.map(() => new GroupedFairQueue());
    this.#backgroundQueues = this.#outputSizes.map(() => new GroupedFairQueue());
    this.ready = Promise.all(this.#owners.map((owner) => owner.warmUp())).then(() => {});
  }

  get waitingCount(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.size, 0);
  }

  push(owner: Owner, job: ScoringJob): void {
    const queues = owner.isBackground ? this.#backgroundQueues : this.#queues;
    (queues[job.model] as GroupedFairQueue<Owner, ScoringJob>).push(owner, job);
    this.#dispatch();
  }

  /** Takes back the jobs of an owner that no thread has taken up. */
  remove(owner: Owner): ScoringJob[] {
    const queues = owner.isBackground ? this.#backgroundQueues : this.#queues;
    return queues.flatMap((queue) => queue.remove(owner));
  }

  /** Waits for what runs, releases the sessions and ends the threads; also when not every thread became ready. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#owners.map((owner) => owner.close()));
  }

  #dispatch(): void {
    while (this.#idle.length > 0) {
      const foreground = oldestOf(this.#queues);
      const background = oldestOf(this.#backgroundQueues);
      if (background && (!foreground || this.#backgroundShare.isDue())) {
        this.#runBackground(this.#idle.pop() as ScoringOwner, background, foreground !== undefined);
        continue;
      }
      const batch = foreground ? this.#nextBatch(foreground) : [];
      if (batch.length === 0) return;
      this.#run(this.#idle.pop() as ScoringOwner, batch);
    }
  }

  // If it is full or has waited long enough.
  #nextBatch(oldest: GroupedFairQueue<Owner, ScoringJob>): ScoringJob[] {
    const { batchWaitMs } = this.#options;
    const maxBatchInputs = this.#options.mayBatch() ? this.#options.maxBatchInputs : 1;
    const waitedMs = performance.now() - (oldest.peek() as ScoringJob).enqueuedMs;
    if (oldest.size < maxBatchInputs && waitedMs < batchWaitMs && maxBatchInputs > 1) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#dispatch();
      }, batchWaitMs - waitedMs);
      return [];
    }
    // Few inputs are spread over the threads, so that the windows of one file are scored side by side.
    return this.#batchOf(oldest, maxBatchInputs);
  }

  #batchOf(queue: GroupedFairQueue<Owner, ScoringJob>, maxInputs: number): ScoringJob[] {
    const size = Math.min(maxInputs, Math.ceil(queue.size / this.#owners.length));
    return Array.from({ length: size }, () => queue.shift() as ScoringJob);
  }

  #runBackground(
    owner: ScoringOwner,
    queue: GroupedFairQueue<Owner, ScoringJob>,
    doOthersWait: boolean,
  ): void {
    const batch = this.#batchOf(queue, doOthersWait ? 1 : this.#options.maxBackgroundInputs);
    const beginMs = performance.now();
    this.#backgroundShare.begin();
    this.#run(owner, batch, () => this.#backgroundShare.end(performance.now() - beginMs));
  }

  #run(owner: ScoringOwner, batch: readonly ScoringJob[], whenOver = nothing): void {
    const nowMs = performance.now();
    for (const job of batch) job.started(nowMs - job.enqueuedMs);
    const settle = (report: (job: ScoringJob, i: number) => void) => {
      this.#idle.push(owner);
      whenOver();
      this.#dispatch();
      batch.forEach(report);
    };
    const model = batch[0]?.model as number;
    const size = this.#outputSizes[model] as number;
    owner
      .score(
        model,
        batch.map((job) => job.slot),
      )
      .then(
        ({ outputs }: ScoringResult) =>
          settle((job, i) => job.scored(outputs.subarray(i * size, (i + 1) * size))),
        (error: unknown) => settle((job) => job.failed(error)),
      );
  }
}
