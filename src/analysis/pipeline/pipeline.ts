// SPDX-License-Identifier: Apache-2.0
//
// This room connects decoding (src/analysis/prepare) with scoring (src/analysis/scoring) and implements
// the interface in src/analysis/analyser. It follows each file, recording and live stream from bytes to
// windows with scores.
import type { Config } from '../../base/config/options.js';
import type { ProcessPlace } from '../../base/config/process-place.js';
import { answersTo, namesOf } from '../../base/contract/model-ids.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { once } from '../../base/once.js';
import type {
  Analysis,
  AnalysisRequest,
  AudioWindow,
  PipelineStatus,
  VoiceEmbedding,
} from '../analyser/analyser.js';
import type { LiveAudio, LiveRequest } from '../analyser/live.js';
import { type FullAnalyser, type RecordingRequest, ScoresDiffer } from '../analyser/recording.js';
import { sumOf } from '../analyser/stage-times.js';
import { forGpu } from '../models/gpu-twin.js';
import { type Model, readManifest } from '../models/manifest.js';
import { readModelFile } from '../models/model-file.js';
import type { ModelSource } from '../models/model-source.js';
import { chooseProvider, type ProviderChoice, trialOf } from '../scoring/provider.js';
import { SecondLook } from '../stretches/second-look.js';
import { AnalysisRun } from './analysis-run.js';
import { EmbeddingRun } from './embedding-run.js';
import { type EngineConfig, engineFor } from './engine.js';
import { LiveStreams } from './live-streams.js';
import { detectorNamed, modelStatus } from './model-status.js';
import { Recordings } from './recordings.js';
import { Requests, type RequestTimeouts } from './requests.js';
import { missedLookOf } from './stage-failure.js';
import { type ThreadSettings, Threads } from './threads.js';

export type PipelineConfig = Pick<Config, 'modelsDir' | 'batchWaitMs'> &
  RequestTimeouts &
  EngineConfig &
  Partial<Pick<Config, 'decoderSandbox' | 'cudaDevices'>>;

/** Recordings that are read in ranges, at one time. */
const defaultRecordings = 2;

export interface PipelineOptions {
  /** The models of the manifest to load; all by default. */
  readonly models?: readonly Model[];
  /** The device for the models; by default from the configuration. */
  readonly choice?: ProviderChoice;
  /** Among the processes of a server, which share GPUs out. */
  readonly place?: ProcessPlace | undefined;
  /** Told of what devices do; `startOwner` is for tests. */
  readonly scoring?: ThreadSettings['scoring'];
  /** Recordings (RecordingAnalyser) that may be in work at one time; others wait. */
  readonly recordings?: number;
  readonly refused?: ThreadSettings['refused'];
  readonly onThreadError?: ThreadSettings['onThreadError'];
}

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
  const sourcesOf = (entries: readonly Model[]) =>
    Promise.all(entries.map((model) => sharedSource(modelsDir, model)));
  const sources = await sourcesOf(models);
  const { place } = options;
  const choice =
    options.choice ?? (await chooseProvider(config, trialOf(modelsDir, models[0] as Model), { place }));
  const isGpu = choice.provider !== 'cpu';
  const threads = new Threads({
    ...engineFor(config, choice),
    models,
    sources,
    gpuSources: isGpu ? await sourcesOf(models.map(forGpu)) : undefined,
    arena,
    isGpu,
    batchWaitMs: config.batchWaitMs,
    sandbox: config.decoderSandbox ?? 'auto',
    maxRecordings: options.recordings ?? defaultRecordings,
    scoring: options.scoring,
    refused: options.refused,
    onThreadError: options.onThreadError,
  });
  const pipeline = new Pipeline(threads, models, choice, config);
  try {
    await threads.ready();
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

/** The windows of a second look that the first one asks for. */
function closerWindows({ windows, durationS }: Analysis, { startS = 0 }: AnalysisRequest): AudioWindow[] {
  const look = new SecondLook(startS);
  for (const window of windows) look.add(window);
  return look.windowsUntil(startS + durationS);
}

class Pipeline implements FullAnalyser {
  readonly #threads: Threads;
  readonly #models: readonly Model[];
  readonly #choice: ProviderChoice;
  readonly #offered: ReturnType<typeof modelStatus>;
  readonly #requests: Requests;
  readonly #recordings: Recordings;
  readonly #live: LiveStreams;
  readonly close = once(() => this.#close());
  #closing = false;

  constructor(threads: Threads, models: readonly Model[], choice: ProviderChoice, timeouts: RequestTimeouts) {
    this.#threads = threads;
    this.#models = models;
    this.#choice = choice;
    this.#offered = modelStatus(models);
    this.#requests = new Requests(threads, timeouts);
    this.#recordings = new Recordings(threads);
    this.#live = new LiveStreams(threads, timeouts.analysisTimeoutMs);
  }

  status(): PipelineStatus {
    const { scheduler, prepare } = this.#threads;
    const { sandboxFailure } = prepare;
    return {
      ready: !this.#closing && scheduler.isWorking,
      scoring: scheduler,
      ...this.#offered,
      ...this.#choice,
      ...(sandboxFailure !== undefined && { sandboxFailure }),
    };
  }

  async analyse(request: AnalysisRequest): Promise<Analysis> {
    const { index, model } = this.#modelNamed(request.model, 'detection');
    const beganMs = performance.now();
    const first = await this.#requestsFor(request).analyse(
      request,
      index,
      new AnalysisRun(model, request.onProgress),
    );
    const closer = closerWindows(first, request);
    if (closer.length === 0) return first;
    const second = await this.#requestsFor(request)
      .analyse({ ...request, windows: closer }, index, new AnalysisRun(model), beganMs)
      .catch(request.needsSecondLook ? undefined : missedLookOf);
    if (typeof second === 'string') return { ...first, missedLook: second };
    return {
      ...first,
      closerWindows: second.windows,
      timesMs: sumOf(first.timesMs, second.timesMs),
    };
  }

  async embed(request: AnalysisRequest): Promise<VoiceEmbedding> {
    const { index, model } = this.#modelNamed(request.model, 'speaker');
    return this.#requestsFor(request).analyse(request, index, new EmbeddingRun(model.id, request.onProgress));
  }

  analyseRecording(request: RecordingRequest) {
    this.#refuseIfClosing();
    const { index, model } = this.#modelNamed(request.model, 'detection');
    const { scoreFingerprint } = detectorNamed(this.#offered, model.id);
    if (request.scoreFingerprint !== undefined && request.scoreFingerprint !== scoreFingerprint)
      throw new ScoresDiffer(`The scores of ${model.id} are others by now.`);
    return this.#recordings.analyse(request, { ...model, index, scoreFingerprint });
  }

  openLive(request: LiveRequest): LiveAudio {
    this.#refuseIfClosing();
    const { index, model } = this.#modelNamed(request.model, 'detection');
    return this.#live.open(request, { ...model, index });
  }

  async #close(): Promise<void> {
    this.#closing = true;
    for (const flight of this.#threads.flights.values()) flight.stop(new ServiceError('STOPPING'));
    await Promise.all([this.#live.close(), this.#recordings.close()]);
    await this.#threads.close();
  }

  #requestsFor({ signal }: AnalysisRequest): Requests {
    signal.throwIfAborted();
    this.#refuseIfClosing();
    return this.#requests;
  }

  #refuseIfClosing(): void {
    if (this.#closing) throw new ServiceError('STOPPING');
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
}
