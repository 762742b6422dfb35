// SPDX-License-Identifier: Apache-2.0
//
// This room turns model inputs into scores: threads that own the models, batches, and the choice of CPU or
// GPU. It alone loads ONNX Runtime.
import type { CodedSound } from '../../base/addon/addon.js';
import { outputSizeOf } from '../models/model-sizes.js';
import { BackgroundShare } from '../threads/background-share.js';
import { GroupedFairQueue } from '../threads/grouped-fair-queue.js';
import { DevicePool, type DevicePoolOptions, type OwnedDevice } from './device-pool.js';
import type { DeviceStatus, ScoringDevice } from './devices.js';
import { type ScoringOwner, ScoringThread } from './scoring-owner.js';
import type { ScoringResult, ScoringWorkerData } from './scoring-task.js';

/** One model input that waits for its scores. */
export interface ScoringJob {
  /** Index of the model in the manifest. */
  readonly model: number;
  readonly slot: number;
  /** The coding of the input's sound. */
  readonly sound: CodedSound;
  /** performance.now() when it came. */
  readonly enqueuedMs: number;
  /** Called once, when a thread takes the job up. */
  started(waitedMs: number): void;
  /** Whether `scored` also gets the vector inside the detector. */
  readonly wantsVector?: boolean;
  /** `output` is the model's output for this input (see ScoringResult). */
  scored(output: Float64Array, vector?: Float32Array): void;
  failed(error: unknown): void;
}

export interface JobOwner {
  /** Groups take turns. */
  readonly group: string;
  /** Its jobs are taken up when no others wait, and now and then (see BackgroundShare). */
  readonly isBackground?: boolean;
}

export interface SchedulerOptions
  extends Partial<Pick<DevicePoolOptions, 'standby' | 'onChange' | 'onBatch'>> {
  /** Each gets a thread of its own. */
  readonly devices: readonly ScoringDevice[];
  /** Inputs per inference call at most. */
  readonly maxBatchInputs: number;
  /** The same for background jobs, whose batch keeps others waiting. */
  readonly maxBackgroundInputs: number;
  /** False as long as each input goes alone. */
  mayBatch(): boolean;
  /** How long an incomplete batch waits for more, in ms. */
  readonly batchWaitMs: number;
  /** Wraps the owner that `start` gives, or replaces it. */
  readonly startOwner?: (device: ScoringDevice, start: DevicePoolOptions['startOwner']) => ScoringOwner;
  /** Told of a thread that died while it had nothing to do, and is replaced. */
  onThreadError(error: unknown): void;
}

function nothing(): void {}

/** Part `i` of parts of one size. */
const part = <Numbers extends Float64Array | Float32Array>(
  numbers: Numbers,
  i: number,
  size: number,
): Numbers => numbers.subarray(i * size, (i + 1) * size) as Numbers;

/** A batch that was on a device that failed. */
interface LostBatch {
  readonly jobs: readonly ScoringJob[];
  readonly error: unknown;
}

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
 * Hands inputs to the threads that own the models: batches across requests, fair between groups (keys) and between the requests
 * of each, one batch per thread at a time. Jobs of abandoned requests are removed before they reach a batch.
 */
export class Scheduler<Owner extends JobOwner> {
  /** Resolves when every model is loaded and warm in each thread; nothing may be pushed before. */
  readonly ready: Promise<void>;
  readonly #options: SchedulerOptions;
  readonly #pool: DevicePool;
  /** Next for a device; they have waited before. */
  readonly #lost: LostBatch[] = [];
  readonly #queues: GroupedFairQueue<Owner, ScoringJob>[];
  readonly #backgroundQueues: GroupedFairQueue<Owner, ScoringJob>[];
  readonly #backgroundShare = new BackgroundShare();
  /** Numbers per input that each model gives. */
  readonly #outputSizes: readonly number[];
  #timer: NodeJS.Timeout | undefined;

  /** Starts the threads. */
  constructor(workerData: Omit<ScoringWorkerData, 'device'>, options: SchedulerOptions) {
    const startThread = (device: ScoringDevice) =>
      new ScoringThread({ ...workerData, device }, options.onThreadError);
    this.#pool = new DevicePool(options.devices, {
      standby: options.standby ?? [],
      startOwner: (device) => options.startOwner?.(device, startThread) ?? startThread(device),
      onIdle: () => this.#dispatch(),
      onChange: options.onChange ?? nothing,
      onBatch: options.onBatch ?? nothing,
    });
    this.#options = options;
    this.#outputSizes = workerData.models.map(outputSizeOf);
    this.#queues = this.#outputSizes.map(() => new GroupedFairQueue());
    this.#backgroundQueues = this.#outputSizes.map(() => new GroupedFairQueue());
    this.ready = this.#pool.ready;
  }

  get waitingCount(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.size, 0);
  }

  /** False while no device can be used: inputs wait until one works again. */
  get isWorking(): boolean {
    return this.#pool.isWorking;
  }

  get devices(): readonly DeviceStatus[] {
    return this.#pool.status;
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

  /** Waits for running batches, releases the sessions and ends the threads; also if not every thread became ready. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const { jobs, error } of this.#lost.splice(0)) for (const job of jobs) job.failed(error);
    await this.#pool.close();
  }

  #dispatch(): void {
    while (this.#pool.hasIdle()) {
      const lost = this.#lost.shift();
      if (lost) {
        this.#run(lost.jobs, nothing, true);
        continue;
      }
      const foreground = oldestOf(this.#queues);
      const background = oldestOf(this.#backgroundQueues);
      if (background && (!foreground || this.#backgroundShare.isDue())) {
        this.#runBackground(background, foreground !== undefined);
        continue;
      }
      const batch = foreground ? this.#nextBatch(foreground) : [];
      if (batch.length === 0) return;
      this.#begin(batch);
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
    const size = Math.min(maxInputs, Math.ceil(queue.size / this.#pool.size));
    return Array.from({ length: size }, () => queue.shift() as ScoringJob);
  }

  #runBackground(queue: GroupedFairQueue<Owner, ScoringJob>, doOthersWait: boolean): void {
    const batch = this.#batchOf(queue, doOthersWait ? 1 : this.#options.maxBackgroundInputs);
    const beginMs = performance.now();
    this.#backgroundShare.begin();
    this.#begin(batch, () => this.#backgroundShare.end(performance.now() - beginMs));
  }

  #begin(batch: readonly ScoringJob[], whenOver = nothing): void {
    const nowMs = performance.now();
    for (const job of batch) job.started(nowMs - job.enqueuedMs);
    this.#run(batch, whenOver, false);
  }

  #run(batch: readonly ScoringJob[], whenOver: () => void, isSecondAttempt: boolean): void {
    const model = batch[0]?.model as number;
    const owned: OwnedDevice = this.#pool.take(model);
    const beginMs = performance.now();
    const size = this.#outputSizes[model] as number;
    owned.owner
      .score(
        model,
        batch.map((job) => job.slot),
        batch.map((job) => job.sound),
        batch.some((job) => job.wantsVector),
      )
      .then(
        ({ outputs, vectors }: ScoringResult) => {
          this.#pool.done(owned, model, batch.length, performance.now() - beginMs);
          whenOver();
          this.#dispatch();
          for (const [i, job] of batch.entries()) {
            const vector = vectors && part(vectors, i, vectors.length / batch.length);
            job.scored(part(outputs, i, size), vector);
          }
        },
        (error: unknown) => {
          const isOut = this.#pool.failed(owned, batch.length, performance.now() - beginMs, error);
          whenOver();
          const isTriedAgain = isOut && !isSecondAttempt;
          if (isTriedAgain) this.#lost.push({ jobs: batch, error });
          this.#dispatch();
          // Inputs that fail twice may be at fault themselves.
          if (!isTriedAgain) for (const job of batch) job.failed(error);
        },
      );
  }
}
