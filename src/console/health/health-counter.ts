// SPDX-License-Identifier: Apache-2.0
import type { AnalysisCounter } from '../../analysis/analyser/counting-analyser.js';
import type { RequestCounter } from '../../base/observe/ended-requests.js';
import type { Logger } from '../../base/observe/log.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { JobTable } from '../../jobs/queue/job-table.js';
import type { Database } from '../../state/database/database.js';
import { ScoreMeter } from '../drift/score-meter.js';
import { ScoreTable } from '../drift/score-table.js';
import { type Gauges, gaugeJoinings } from './gauges.js';
import { History } from './history.js';
import { joinedStretches } from './joined-stretches.js';
import type { Joining, Span, Stretch } from './slots.js';

/** Largest age of the numbers of jobs. */
const JOBS_FRESH_MS = 10_000;

/** The processes of a server that shares its port. */
export interface Siblings {
  /** Exactly one process is. */
  readonly isFirst: boolean;
  historiesOfAll(span: Span): Promise<readonly Stretch[]>;
}

/** Remembers what this process did and which scores its models gave, for the dashboard. */
export class HealthCounter implements RequestCounter, AnalysisCounter {
  readonly scores: ScoreTable;
  readonly #history = new History();
  readonly #meter: ScoreMeter;
  readonly #siblings: Siblings | undefined;
  #jobsTimer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Logger, siblings: Siblings | undefined) {
    this.scores = new ScoreTable(database);
    this.#meter = new ScoreMeter(this.scores, {
      onError: (error) => log.warn({ err: error }, 'scores could not be counted in the database; will retry'),
    });
    this.#siblings = siblings;
  }

  /** Of typed arrays, in this process. */
  get historyBytes(): number {
    return this.#history.bytes;
  }

  countRequest(record: RequestRecord): void {
    this.#history.count(record);
  }

  countWindows(modelId: string, windows: number): void {
    this.#history.countWindows(modelId, windows);
  }

  countWindowScore(modelId: string, scoreFingerprint: string, score: number): void {
    this.#meter.countWindowScore(modelId, scoreFingerprint, score);
  }

  countFileScore(modelId: string, scoreFingerprint: string, score: number): void {
    this.#meter.countFileScore(modelId, scoreFingerprint, score);
  }

  /** Begins to remember. @param jobs asked by one process of a host */
  start(gauges: Omit<Gauges, 'jobs'>, jobs: Pick<JobTable, 'countUnfinished'>): void {
    let known: ReturnType<Gauges['jobs']>;
    const look = async (): Promise<void> => {
      known = await jobs.countUnfinished().catch(() => undefined);
    };
    if (this.#siblings?.isFirst ?? true) {
      void look();
      this.#jobsTimer = setInterval(() => void look(), JOBS_FRESH_MS).unref();
    }
    this.#history.start({ ...gauges, jobs: () => known });
  }

  /** Of this process. */
  ownHistory(span: Span): Stretch {
    return this.#history.read(span);
  }

  /** Of all processes of this host, and their number. @param span of the monotonic clock */
  async history(span: Span): Promise<{ readonly stretch: Stretch; readonly processes: number }> {
    const own = this.ownHistory(span);
    if (this.#siblings === undefined) return { stretch: own, processes: 1 };
    const all = await this.#siblings.historiesOfAll(span);
    const stretch = joinedStretches(all, joiningOverProcesses);
    return stretch === undefined ? { stretch: own, processes: 1 } : { stretch, processes: all.length };
  }

  /** Resolves when the counts so far are in the database, or have failed to get there. */
  flushScores(): Promise<void> {
    return this.#meter.flush();
  }

  /** Call it before the database is closed. */
  async close(): Promise<void> {
    clearInterval(this.#jobsTimer);
    this.#history.stop();
    await this.#meter.close();
  }
}

function joiningOverProcesses(name: string, joining: Joining): Joining {
  const gauge = name.startsWith('gauges/') ? name.slice('gauges/'.length) : '';
  return Object.entries(gaugeJoinings).find(([known]) => known === gauge)?.[1] ?? joining;
}
