// SPDX-License-Identifier: Apache-2.0
//
// This room runs the recordings of a labelled list through the analysis, without a server, and reads and
// writes lists of scores. `veravox evaluate` and `calibrate` use it.
import type { Analyser } from '../../analysis/analyser/analyser.js';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { engineFor } from '../../analysis/pipeline/engine.js';
import { type PipelineOptions, startPipeline } from '../../analysis/pipeline/pipeline.js';
import type { Config } from '../../base/config/options.js';
import { FileArena } from './file-arena.js';
import { mapInFlight } from './in-flight.js';
import { joinedRecording } from './joined-recording.js';
import { readInto, sizeOf } from './local-files.js';

/** One file, or several whose audio is joined to one recording. */
export type Recording = readonly string[];

/** The outcome for a recording. */
export type Finding<Result> =
  | { readonly ok: true; readonly result: Result; readonly durationS: number }
  | { readonly ok: false; readonly error: unknown };

/** Is told of each recording that is done. */
export interface ListProgress {
  add(isFailure: boolean): void;
  clear(): void;
}

export type ShowProgress = (recordings: number) => ListProgress;

/** Files whose size is asked for at once. */
const STATS_IN_FLIGHT = 32;

/** The pipeline that serves, for many files: enough of them in flight to keep its threads busy, in bounded memory. */
export class ListPipeline {
  readonly analyser: Analyser;
  readonly #config: Config;
  readonly #arena: FileArena;
  readonly #sizes: ReadonlyMap<string, number | Error>;
  readonly #contents: ReadonlyMap<string, Uint8Array>;

  private constructor(
    analyser: Analyser,
    config: Config,
    arena: FileArena,
    sizes: ReadonlyMap<string, number | Error>,
    contents: ReadonlyMap<string, Uint8Array>,
  ) {
    this.analyser = analyser;
    this.#config = config;
    this.#arena = arena;
    this.#sizes = sizes;
    this.#contents = contents;
  }

  /**
   * @param recordings everything to analyse: the largest file decides how much memory is needed
   * @param contents bytes that need not be read, by the name that stands for them
   * @param options the models, if not those of the manifest
   */
  static async start(
    config: Config,
    recordings: readonly Recording[],
    contents: ReadonlyMap<string, Uint8Array> = new Map(),
    options: Pick<PipelineOptions, 'models'> = {},
  ): Promise<ListPipeline> {
    const files = [...new Set(recordings.flat())];
    const sizes = await mapInFlight(
      files,
      STATS_IN_FLIGHT,
      async (file) => contents.get(file)?.length ?? sizeOf(file),
    );
    // Not a spread, whose length is limited.
    const largest = sizes.reduce<number>(
      (most, size) => (typeof size === 'number' ? Math.max(most, size) : most),
      config.maxInflightBytes,
    );
    const arena = new FileArena(largest);
    const analyser = await startPipeline(config, arena.buffer, options);
    return new ListPipeline(
      analyser,
      config,
      arena,
      new Map(files.map((file, i) => [file, sizes[i] as number])),
      contents,
    );
  }

  /** Files that keep all threads busy. */
  get inFlight(): number {
    const { prepareThreads, scoringThreads, maxBatchWindows } = engineFor(
      this.#config,
      this.analyser.status(),
    );
    // While each scoring thread works on a batch the next one is there, and each prepare thread has a file.
    return prepareThreads + 2 * scoringThreads * maxBatchWindows;
  }

  /** In which recordings lie. */
  get memory(): SharedArrayBuffer {
    return this.#arena.buffer;
  }

  close(): Promise<void> {
    return this.analyser.close();
  }

  /**
   * Analyses recordings side by side.
   * @param work handles a recording that lies in a region of the pipeline's arena
   * @returns in the order of the recordings, failures among them
   */
  async analyse<Result>(
    recordings: readonly Recording[],
    work: (region: ArenaRegion, at: number) => Promise<{ result: Result; durationS: number }>,
    showProgress: ShowProgress,
  ): Promise<Finding<Result>[]> {
    const progress = showProgress(recordings.length);
    const found = await mapInFlight(
      [...recordings.keys()],
      this.inFlight,
      async (i): Promise<Finding<Result>> => {
        try {
          const { result, durationS } = await this.withRegion(recordings[i] as Recording, (region) =>
            work(region, i),
          );
          progress.add(false);
          return { ok: true, result, durationS };
        } catch (error) {
          progress.add(true);
          return { ok: false, error };
        }
      },
    );
    progress.clear();
    return found;
  }

  /** Runs `work` while the recording lies in a region of the pipeline's arena, once there is room. */
  async withRegion<Result>(
    recording: Recording,
    work: (region: ArenaRegion) => Promise<Result>,
  ): Promise<Result> {
    const [file = ''] = recording;
    if (recording.length > 1) {
      const joined = await joinedRecording(recording);
      return this.#arena.use(joined.length, (region, content) => {
        content.set(joined);
        return work(region);
      });
    }
    const given = this.#contents.get(file);
    if (given !== undefined) {
      return this.#arena.use(given.length, (region, content) => {
        content.set(given);
        return work(region);
      });
    }
    const size = this.#sizes.get(file);
    if (typeof size !== 'number') throw size;
    return this.#arena.use(size, async ({ offset }, content) =>
      work({ offset, length: await readInto(content, file) }),
    );
  }
}
