// SPDX-License-Identifier: Apache-2.0
import { loadAddon } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import { InputSlots } from '../memory/input-slots.js';
import { inputTextOf } from '../models/input-text.js';
import type { Model } from '../models/manifest.js';
import type { ModelSource } from '../models/model-source.js';
import { PreparePool } from '../prepare/prepare-pool.js';
import { makePreparer } from '../prepare/recipe-check.js';
import { RunControl } from '../prepare/run-control.js';
import { batchesPerScoringThread, filesForCpu, filesForGpu, StartedWork } from '../prepare/started-work.js';
import { type JobOwner, Scheduler, type SchedulerOptions } from '../scoring/scheduler.js';
import { Turns } from '../threads/turns.js';
import type { Engine } from './engine.js';
import { acceptInputs, type Flight, type FlightPath, type FlightWatch } from './flight.js';
import { pendingOfRecording, type RecordingSettings, type RecordingWorkerData } from './recordings.js';

export type ThreadPool = 'prepare' | 'scoring';

export interface ThreadSettings extends Engine, Pick<Config, 'batchWaitMs'> {
  readonly models: readonly Model[];
  readonly sources: readonly ModelSource[];
  /** In place of them on GPUs. */
  readonly gpuSources: readonly ModelSource[] | undefined;
  /** Memory with the regions of requests. */
  readonly arena: SharedArrayBuffer;
  readonly isGpu: boolean;
  readonly sandbox: Config['decoderSandbox'];
  /** Recordings that may be in work at one time; others wait. */
  readonly maxRecordings: number;
  readonly scoring: Pick<SchedulerOptions, 'startOwner' | 'onChange' | 'onBatch'> | undefined;
  /** Inputs to refuse: see RefusedInputs. */
  readonly refused: SharedArrayBuffer | undefined;
  /** Called if an idle thread dies; it is replaced. */
  readonly onThreadError: ((pool: ThreadPool, error: unknown) => void) | undefined;
}

const minSlots = 32;
/** So that each has the inputs of a file ahead of the scoring threads. */
const slotsPerPrepareThread = 4;

/** Prepare threads of requests, scoring threads, and the slots between them. */
export class Threads implements FlightPath {
  readonly slots: InputSlots;
  readonly scheduler: Scheduler<JobOwner>;
  readonly control: RunControl;
  readonly prepare: PreparePool;
  readonly flights = new Map<number, Flight>();
  readonly turns = new Turns();
  /** For the prepare threads of recordings. */
  readonly workerData: RecordingWorkerData;
  readonly recordingSettings: RecordingSettings;
  readonly #sources: readonly ModelSource[];
  readonly #started: StartedWork;

  /** Starts the threads. */
  constructor(settings: ThreadSettings) {
    const { models, sources, gpuSources, isGpu, prepareThreads, scoringThreads, maxBatchWindows } = settings;
    const { refused, onThreadError } = settings;
    const addon = loadAddon();
    const largestInput = Math.max(...models.map((model) => makePreparer(addon, model).inputSize));
    const slotsOfRequests = Math.max(
      minSlots,
      batchesPerScoringThread * scoringThreads * maxBatchWindows,
      slotsPerPrepareThread * prepareThreads,
    );
    const maxBackgroundInputs = isGpu ? maxBatchWindows : 1;
    const recordingSettings = {
      runs: settings.maxRecordings,
      maxPendingInputs: pendingOfRecording(
        batchesPerScoringThread * scoringThreads * maxBackgroundInputs,
        largestInput,
      ),
      onThreadError: (error: unknown) => onThreadError?.('prepare', error),
    };
    // Slots of recordings come on top, so that they never keep a request waiting for one.
    const slotsOfRecordings = recordingSettings.runs * (recordingSettings.maxPendingInputs + 1);
    this.slots = InputSlots.create(slotsOfRequests + slotsOfRecordings, largestInput);
    this.recordingSettings = recordingSettings;
    this.#sources = [...sources, ...(gpuSources ?? [])];
    this.#started = new StartedWork(isGpu ? filesForGpu(settings) : filesForCpu(settings));
    this.scheduler = new Scheduler(
      { models, sources, gpuSources, slots: this.slots.shared, maxBatchInputs: maxBatchWindows },
      {
        ...settings.scoring,
        devices: settings.devices,
        standby: settings.standby,
        maxBatchInputs: maxBatchWindows,
        maxBackgroundInputs,
        // A CPU scores the inputs of a batch one by one: a key would wait for all of another key's batch.
        mayBatch: () => isGpu || !this.turns.areSeveral(),
        // On a CPU a fuller batch is hardly faster per window: not worth waiting for.
        batchWaitMs: isGpu ? settings.batchWaitMs : 0,
        onThreadError: (error) => onThreadError?.('scoring', error),
      },
    );
    this.control = RunControl.create(prepareThreads);
    this.workerData = {
      arena: settings.arena,
      slots: this.slots.shared,
      modelInputs: models.map(inputTextOf),
      sandbox: settings.sandbox,
      ...(refused && { refused }),
    };
    this.prepare = new PreparePool(
      prepareThreads,
      {
        ...this.workerData,
        control: this.control.shared,
        // Leaves room for inputs of other files next to the longest one.
        maxPendingInputs: Math.max(1, Math.floor(slotsOfRequests / (2 * prepareThreads))),
      },
      {
        mayBegin: (owner) => !this.turns.areSeveral() || this.#started.hasRoom(owner),
        onInputs: (ready) => acceptInputs(this, ready),
        onThreadError: (error) => onThreadError?.('prepare', error),
      },
    );
    // During the start of the threads, so that the system provides the memory now and not in the middle of requests.
    this.slots.touch();
  }

  /** Rejects if a model cannot be loaded, but not before every thread can be ended. */
  async ready(): Promise<void> {
    const threads = [this.scheduler.ready, this.prepare.ready];
    await Promise.allSettled(threads);
    await Promise.all(threads);
  }

  /** Counts a flight toward what its owner has in work: see StartedWork. */
  counting(owner: string): FlightWatch {
    return {
      begun: () => this.#started.begin(owner),
      over: () => {
        this.#started.end(owner);
        this.prepare.lookAgain();
      },
    };
  }

  /** Call it when no flight is left. */
  async close(): Promise<void> {
    await this.prepare.close();
    await this.scheduler.close();
    // The garbage collector does not know this memory's size, and may run much later.
    const { releasePages, trimHeap } = loadAddon();
    const files = this.#sources.filter((source) => source instanceof Uint8Array);
    for (const memory of [new Uint8Array(this.slots.shared.floats), ...files]) releasePages(memory);
    // Each thread's heap keeps the memory of its models: without this, every reload would add to it.
    await trimHeap();
  }
}
