// SPDX-License-Identifier: Apache-2.0
import { audioPartOf } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import type { AnalysisRequest } from '../analyser/analyser.js';
import type { PrepareTask } from '../prepare/prepare-task.js';
import type { FileRun } from './file-run.js';
import { Flight } from './flight.js';
import { toServiceError } from './stage-failure.js';
import type { Threads } from './threads.js';

export type RequestTimeouts = Pick<Config, 'queueTimeoutMs' | 'analysisTimeoutMs'>;

/** Analyses files in memory. */
export class Requests {
  readonly #threads: Threads;
  readonly #timeouts: RequestTimeouts;

  constructor(threads: Threads, timeouts: RequestTimeouts) {
    this.#threads = threads;
    this.#timeouts = timeouts;
  }

  /**
   * @param model its index
   * @param firstBeganMs of a second look: the beginning of the first one, which leaves it the rest of the time of both
   */
  async analyse<Output, Result>(
    request: AnalysisRequest,
    model: number,
    run: FileRun<Output, Result>,
    firstBeganMs?: number,
  ): Promise<Result> {
    const { signal, longTimeoutMs, owner = '' } = request;
    const { queueTimeoutMs, analysisTimeoutMs } =
      longTimeoutMs === undefined
        ? this.#timeouts
        : { queueTimeoutMs: longTimeoutMs, analysisTimeoutMs: longTimeoutMs };
    const leftMs =
      firstBeganMs === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, firstBeganMs + queueTimeoutMs + analysisTimeoutMs - performance.now());
    const isLong = longTimeoutMs !== undefined;
    const { turns, prepare } = this.#threads;
    turns.note(owner);
    const flight = new Flight(this.#threads, {
      owner: { group: owner },
      model,
      run,
      adjustScore: request.adjustScore,
      signal,
      watch: isLong ? undefined : this.#threads.counting(owner),
    });
    run.promise.catch((reason) => flight.stop(reason));
    flight.stopAfter(Math.min(queueTimeoutMs, leftMs), 'QUEUE_DEADLINE');
    const beginMs = performance.now();
    const makeTask = (control: number): PrepareTask => {
      const limitMs = Math.min(analysisTimeoutMs, Math.max(1, leftMs - (performance.now() - beginMs)));
      flight.stopAfter(limitMs, 'ANALYSIS_TIMEOUT');
      run.addQueueMs(performance.now() - beginMs);
      return {
        id: flight.id,
        control,
        region: request.region,
        ...(request.memory && { memory: request.memory }),
        model,
        options: {
          minDurationS: request.minDurationS,
          maxDurationS: request.maxDurationS,
          silenceThresholdPercent: request.silenceThresholdPercent,
          timeLimitMs: limitMs,
          ...audioPartOf(request),
          ...(request.windows && { windows: request.windows }),
        },
      };
    };
    try {
      // Never rejects while a thread reads the region, so that the caller can give it back.
      const result = await flight.prepare(prepare, makeTask, isLong);
      if (result.ok) run.prepared(result);
      else run.fail(toServiceError(result, request, analysisTimeoutMs));
    } catch (error) {
      // A thread that dies of what was given up already is not what it ended with.
      run.fail(error);
    }
    return run.promise.finally(() => flight.close());
  }
}
