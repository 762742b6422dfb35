// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { audioPartOf, codedSoundOf, loadAddon } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import type { ProcessPlace } from '../../base/config/process-place.js';
import { answersTo, namesOf } from '../../base/contract/model-ids.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Analysis, AnalysisRequest, PipelineStatus, VoiceEmbedding } from '../analyser/analyser.js';
import type { LiveAudio, LiveRequest } from '../analyser/live.js';
import type { FullAnalyser, RecordingRequest } from '../analyser/recording.js';
import { InputSlots } from '../memory/input-slots.js';
import { inputTextOf } from '../models/input-text.js';
import { type Model, readManifest } from '../models/manifest.js';
import { readModelFile } from '../models/model-file.js';
import type { ModelSource } from '../models/model-source.js';
import { PreparePool } from '../prepare/prepare-pool.js';
import type { PrepareTask, SlottedInput } from '../prepare/prepare-task.js';
import { makePreparer } from '../prepare/recipe-check.js';
import { RunControl } from '../prepare/run-control.js';
import { batchesPerScoringThread, filesForCpu, filesForGpu, StartedWork } from '../prepare/started-work.js';
import { chooseProvider, type ProviderChoice } from '../scoring/provider.js';
import { type JobOwner, Scheduler, type SchedulerOptions, type ScoringJob } from '../scoring/scheduler.js';
import { Turns } from '../threads/turns.js';
import { AnalysisRun } from './analysis-run.js';
import { EmbeddingRun } from './embedding-run.js';
import { type Engine, type EngineConfig, engineFor } from './engine.js';
import type { FileRun } from './file-run.js';
import { LiveStreams } from './live-streams.js';
import { detectorNamed, modelStatus } from './model-status.js';
import { pendingOfRecording, type RecordingSettings, Recordings } from './recordings.js';
import { toServiceError } from './stage-failure.js';

export type PipelineConfig = Pick<
  Config,
  'modelsDir' | 'batchWaitMs' | 'queueTimeoutMs' | 'analysisTimeoutMs'
> &
  EngineConfig &
  Partial<Pick<Config, 'decoderSandbox' | 'cudaDevices'>>;

const minSlots = 32;
/** So that each has the inputs of a file ahead of the scoring threads. */
const slotsPerPrepareThread = 4;
/** Recordings that are read in ranges, at one time. */
const defaultRecordings = 2;

export interface PipelineOptions {
  /** The models of the manifest to load; all by default. */
  readonly models?: readonly Model[];
  /** The device for the models; by default from the configuration. */
  readonly choice?: ProviderChoice;
  /** Among the processes of a server, which share GPUs out. */
  readonly place?: ProcessPlace | undefined;
  /** Told of the devices' work; `startOwner` is for tests. */
  readonly scoring?: Pick<SchedulerOptions, 'startOwner' | 'onChange' | 'onBatch'>;
  /** Recordings (RecordingAnalyser) that may be in work at one time; others wait. */
  readonly recordings?: number;
  /** Inputs to refuse: see RefusedInputs. */
  readonly refused?: SharedArrayBuffer;
  /** Called if an idle thread dies; it is replaced. */
  readonly onThreadError?: (pool: ThreadPool, error: unknown) => void;
}

export type ThreadPool = 'prepare' | 'scoring';

/**
 * Loads the models and starts the threads; resolves when all are warm. `arena` is the memory with the regions of requests.
 */
export async function startPipeline(
  config: PipelineConfig,
  arena: SharedArrayBuffer,
  options: PipelineOptions = {},
): Promise<FullAnalyser> {
  const { modelsDir } = config;
  const models = options.models ?? (await readManifest(modelsDir)).models;
  const sources = await Promise.all(models.map((model) => sharedSource(modelsDir, model)));
  const first = models[0] as Model;
  const { place } = options;
  const choice = options.choice ?? (await chooseProvider(config, join(modelsDir, first.file), { place }));
  const engine = engineFor(config, choice);
  const addon = loadAddon();
  const inputSizes = models.map((model) => makePreparer(addon, model).inputSize);
  const slotCount = Math.max(
    minSlots,
    batchesPerScoringThread * engine.scoringThreads * engine.maxBatchWindows,
    slotsPerPrepareThread * engine.prepareThreads,
  );
  const largestInput = Math.max(...inputSizes);
  const recordings = {
    runs: options.recordings ?? defaultRecordings,
    maxPendingInputs: pendingOfRecording(
      batchesPerScoringThread *
        engine.scoringThreads *
        (choice.provider === 'cuda' ? engine.maxBatchWindows : 1),
      largestInput,
    ),
  };
  // Slots of recordings come on top, so that they never keep a request waiting for one.
  const slotsOfRecordings = recordings.runs * (recordings.maxPendingInputs + 1);
  const slots = InputSlots.create(slotCount + slotsOfRecordings, largestInput);
  const pipeline = new Pipeline(
    { ...config, ...engine },
    models,
    sources,
    choice,
    slots,
    slotCount,
    arena,
    options,
    recordings,
  );
  // During the start of the threads, so that the system provides the memory now and not in the middle of requests.
  slots.touch();
  try {
    await pipeline.threadsReady();
  } catch (error) {
    await pipeline.close();
    throw error;
  }
  return pipeline;
}

async function sharedSource(modelsDir: string, model: Model): Promise<ModelSource> {
  const { source } = await readModelFile(modelsDir, model);
  if (!(source instanceof Uint8Array)) return source;
  const shared = new Uint8Array(new SharedArrayBuffer(source.length));
  shared.set(source);
  return shared;
}

/** One analysis on its way through the threads. */
interface Flight {
  readonly id: number;
  /** The owner: owners take turns. */
  readonly group: string;
  readonly run: Pick<
    FileRun<unknown, unknown>,
    'settled' | 'promise' | 'addQueueMs' | 'announced' | 'takenUp' | 'prepared' | 'fail'
  >;
  /** Passes on the model's output for an input. */
  readonly scored: (input: SlottedInput, output: Float64Array, atMs: number) => void;
  readonly model: number;
  /** Its index in the control block, while a prepare thread works on it. */
  control: number | undefined;
  /** Inputs that arrived, and their total once known. */
  announced: number;
  expected: number | undefined;
}

class Pipeline implements FullAnalyser {
  readonly #config: PipelineConfig;
  readonly #models: readonly Model[];
  readonly #sources: readonly ModelSource[];
  readonly #offered: ReturnType<typeof modelStatus>;
  readonly #choice: ProviderChoice;
  readonly #slots: InputSlots;
  readonly #scheduler: Scheduler<JobOwner>;
  readonly #control: RunControl;
  readonly #prepare: PreparePool;
  readonly #recordings: Recordings;
  readonly #live: LiveStreams;
  readonly #started: StartedWork;
  readonly #turns = new Turns();
  readonly #flights = new Map<number, Flight>();
  readonly #active = new Set<AbortController>();
  #lastId = 0;
  #closing = false;

  /** Starts the threads. */
  constructor(
    config: PipelineConfig & Engine,
    models: readonly Model[],
    sources: readonly ModelSource[],
    choice: ProviderChoice,
    slots: InputSlots,
    slotsOfRequests: number,
    arena: SharedArrayBuffer,
    { refused, onThreadError, scoring }: PipelineOptions,
    recordings: Pick<RecordingSettings, 'runs' | 'maxPendingInputs'>,
  ) {
    this.#config = config;
    this.#models = models;
    this.#sources = sources;
    this.#offered = modelStatus(models);
    this.#choice = choice;
    this.#slots = slots;
    const isGpu = choice.provider === 'cuda';
    this.#started = new StartedWork(isGpu ? filesForGpu(config) : filesForCpu(config));
    this.#scheduler = new Scheduler(
      {
        models,
        sources,
        slots: slots.shared,
        maxBatchInputs: config.maxBatchWindows,
      },
      {
        ...scoring,
        devices: config.devices,
        standby: config.standby,
        maxBatchInputs: config.maxBatchWindows,
        maxBackgroundInputs: isGpu ? config.maxBatchWindows : 1,
        // A CPU scores the inputs of a batch one by one: a key would wait for all of another key's batch.
        mayBatch: () => isGpu || !this.#turns.areSeveral(),
        // On a CPU a fuller batch is hardly faster per window: not worth waiting for.
        batchWaitMs: isGpu ? config.batchWaitMs : 0,
        onThreadError: (error) => onThreadError?.('scoring', error),
      },
    );
    this.#control = RunControl.create(config.prepareThreads);
    const workerData = {
      arena,
      slots: slots.shared,
      modelInputs: models.map(inputTextOf),
      sandbox: config.decoderSandbox ?? 'auto',
      ...(refused && { refused }),
    };
    this.#recordings = new Recordings(slots, this.#scheduler, workerData, {
      ...recordings,
      onThreadError: (error) => onThreadError?.('prepare', error),
    });
    this.#prepare = new PreparePool(
      config.prepareThreads,
      {
        ...workerData,
        control: this.#control.shared,
        // Leaves room for inputs of other files next to the longest one.
        maxPendingInputs: Math.max(1, Math.floor(slotsOfRequests / (2 * config.prepareThreads))),
      },
      {
        mayBegin: (owner) => !this.#turns.areSeveral() || this.#started.hasRoom(owner),
        onInputs: ({ id, inputs }) => {
          const flight = this.#flights.get(id);
          if (flight) this.#accept(flight, inputs);
          // Its thread died after it sent them.
          else for (const input of inputs) this.#slots.release(input.slot);
        },
        onThreadError: (error) => onThreadError?.('prepare', error),
      },
    );
    this.#live = new LiveStreams({
      slots,
      scheduler: this.#scheduler,
      control: this.#control,
      prepare: this.#prepare,
      started: this.#started,
      turns: this.#turns,
      taskTimeoutMs: config.analysisTimeoutMs,
    });
  }

  /** Rejects if a model cannot be loaded, but not before every thread can be ended. */
  async threadsReady(): Promise<void> {
    const threads = [this.#scheduler.ready, this.#prepare.ready];
    await Promise.allSettled(threads);
    await Promise.all(threads);
  }

  status(): PipelineStatus {
    const { sandboxFailure } = this.#prepare;
    return {
      ready: !this.#closing && this.#scheduler.isWorking,
      scoring: this.#scheduler,
      ...this.#offered,
      ...this.#choice,
      ...(sandboxFailure !== undefined && { sandboxFailure }),
    };
  }

  async analyse(request: AnalysisRequest): Promise<Analysis> {
    const { index, model } = this.#modelNamed(request.model, 'detection');
    const run = new AnalysisRun(model, request.onProgress);
    return this.#process(request, index, run, ([score = Number.NaN]) => score);
  }

  async embed(request: AnalysisRequest): Promise<VoiceEmbedding> {
    const { index, model } = this.#modelNamed(request.model, 'speaker');
    const run = new EmbeddingRun(model.id, request.onProgress);
    return this.#process(request, index, run, (embedding) => embedding);
  }

  analyseRecording(request: RecordingRequest) {
    if (this.#closing) throw new ServiceError('STOPPING');
    const { index, model } = this.#modelNamed(request.model, 'detection');
    const { scoreFingerprint } = detectorNamed(this.#offered, model.id);
    return this.#recordings.analyse(request, { ...model, index, scoreFingerprint });
  }

  openLive(request: LiveRequest): LiveAudio {
    if (this.#closing) throw new ServiceError('STOPPING');
    const { index, model } = this.#modelNamed(request.model, 'detection');
    return this.#live.open(request, { ...model, index });
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const stop of this.#active) stop.abort(new ServiceError('STOPPING'));
    await Promise.all([this.#live.close(), this.#prepare.close(), this.#recordings.close()]);
    await this.#scheduler.close();
    // The garbage collector does not know this memory's size, and may run much later.
    const { releasePages, trimHeap } = loadAddon();
    const files = this.#sources.filter((source) => source instanceof Uint8Array);
    for (const memory of [new Uint8Array(this.#slots.shared.floats), ...files]) releasePages(memory);
    // Each thread's heap keeps the memory of its models: without this, every reload would add to it.
    await trimHeap();
  }

  async #process<Output, Result>(
    request: AnalysisRequest,
    model: number,
    run: FileRun<Output, Result>,
    read: (output: Float64Array) => Output,
  ): Promise<Result> {
    request.signal.throwIfAborted();
    if (this.#closing) throw new ServiceError('STOPPING');
    const { longTimeoutMs } = request;
    const queueTimeoutMs = longTimeoutMs ?? this.#config.queueTimeoutMs;
    const analysisTimeoutMs = longTimeoutMs ?? this.#config.analysisTimeoutMs;
    const group = request.owner ?? '';
    this.#turns.note(group);
    const flight: Flight = {
      id: ++this.#lastId,
      group,
      run,
      scored: (input, output, atMs) => run.scored(input, read(output), atMs),
      model,
      control: undefined,
      announced: 0,
      expected: undefined,
    };

    // Everything that ends the analysis early (the caller, a time limit, a failure) goes through this controller.
    const stop = new AbortController();
    const abandon = () => stop.abort(request.signal.reason);
    stop.signal.addEventListener('abort', () => this.#stopFlight(flight, stop.signal.reason), { once: true });
    request.signal.addEventListener('abort', abandon, { once: true });
    run.promise.catch((reason) => stop.abort(reason));
    const stopAfter = (timeoutMs: number, key: 'QUEUE_DEADLINE' | 'ANALYSIS_TIMEOUT') =>
      setTimeout(() => stop.abort(new ServiceError(key, { timeoutMs })), timeoutMs);
    let timer = stopAfter(queueTimeoutMs, 'QUEUE_DEADLINE');
    let hasStarted = false;
    const beginMs = performance.now();
    this.#active.add(stop);
    try {
      const makeTask = (control: number) => {
        clearTimeout(timer);
        timer = stopAfter(analysisTimeoutMs, 'ANALYSIS_TIMEOUT');
        run.addQueueMs(performance.now() - beginMs);
        hasStarted = longTimeoutMs === undefined;
        if (hasStarted) this.#started.begin(group);
        return this.#makeTask(flight, control, request, analysisTimeoutMs);
      };
      // Never rejects while a thread reads the region, so that the caller can give it back.
      const result = await this.#prepare
        .run(makeTask, stop.signal, { owner: group, isLong: longTimeoutMs !== undefined })
        .finally(() => {
          flight.control = undefined;
        });
      flight.expected = result.inputCount;
      this.#accept(flight, result.inputs);
      if (result.ok) run.prepared(result);
      else run.fail(toServiceError(result, request, analysisTimeoutMs));
      return await run.promise;
    } catch (error) {
      this.#flights.delete(flight.id);
      // A run that was given up keeps its first error, whatever its thread then dies of.
      run.fail(error);
      return await run.promise;
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', abandon);
      this.#active.delete(stop);
      if (hasStarted) {
        this.#started.end(group);
        this.#prepare.lookAgain();
      }
    }
  }

  #modelNamed<Task extends Model['task']>(
    name: string,
    task: Task,
  ): { index: number; model: Extract<Model, { task: Task }> } {
    const isWanted = (model: Model): model is Extract<Model, { task: Task }> =>
      model.task === task && answersTo(model, name);
    const index = this.#models.findIndex(isWanted);
    const model = this.#models.find(isWanted);
    if (model !== undefined) return { index, model };
    const expected = `one of ${namesOf(this.#models.filter((other) => other.task === task)).join(', ')}`;
    throw new ServiceError('FIELD_INVALID', { field: 'model', expected, received: name });
  }

  #makeTask(flight: Flight, control: number, request: AnalysisRequest, timeLimitMs: number): PrepareTask {
    this.#control.reset(control);
    flight.control = control;
    this.#flights.set(flight.id, flight);
    return {
      id: flight.id,
      control,
      region: request.region,
      ...(request.memory && { memory: request.memory }),
      model: flight.model,
      options: {
        minDurationS: request.minDurationS,
        maxDurationS: request.maxDurationS,
        silenceThresholdPercent: request.silenceThresholdPercent,
        timeLimitMs,
        ...audioPartOf(request),
      },
    };
  }

  #accept(flight: Flight, inputs: readonly SlottedInput[]): void {
    for (const input of inputs) {
      flight.announced++;
      if (flight.run.settled) {
        this.#giveBack(flight, input.slot);
      } else {
        flight.run.announced(input);
        this.#scheduler.push(flight, this.#makeJob(flight, input));
      }
    }
    if (flight.announced === flight.expected) this.#flights.delete(flight.id);
  }

  #makeJob(flight: Flight, input: SlottedInput): ScoringJob {
    const { run } = flight;
    return {
      model: flight.model,
      slot: input.slot,
      sound: codedSoundOf(input),
      enqueuedMs: performance.now(),
      started: (waitedMs) => {
        if (input.windowIndex === 0 && input.inputIndex === 0) run.addQueueMs(waitedMs);
        run.takenUp(performance.now());
      },
      scored: (output) => {
        this.#giveBack(flight, input.slot);
        flight.scored(input, output, performance.now());
      },
      failed: (error) => {
        this.#giveBack(flight, input.slot);
        run.fail(new ServiceError('INTERNAL', {}, { cause: error }));
      },
    };
  }

  #giveBack(flight: Flight, slot: number): void {
    this.#slots.release(slot);
    if (flight.control !== undefined) this.#control.removePending(flight.control);
  }

  #stopFlight(flight: Flight, reason: unknown): void {
    flight.run.fail(reason);
    if (flight.control !== undefined) this.#control.stop(flight.control);
    for (const job of this.#scheduler.remove(flight)) this.#giveBack(flight, job.slot);
  }
}
