// SPDX-License-Identifier: Apache-2.0
import type { AnalysisCounter } from '../analysis/analyser/counting-analyser.js';
import type { HealthDesk } from '../api/admin/health-routes.js';
import { type Gauges, gaugeJoinings } from '../base/history/gauges.js';
import { History } from '../base/history/history.js';
import { joinedStretches } from '../base/history/joined-stretches.js';
import type { Joining, Span, Stretch } from '../base/history/slots.js';
import type { RequestCounter } from '../base/observe/ended-requests.js';
import type { Logger } from '../base/observe/log.js';
import type { RequestRecord } from '../base/observe/request-record.js';
import type { Database } from '../state/database/database.js';
import { ScoreBook } from '../state/drift/score-book.js';
import { ScoreMeter } from '../state/drift/score-meter.js';
import type { Jobs } from '../state/jobs/jobs.js';
import type { ParentLink } from './supervision/parent-link.js';

/** How often the database is asked for the numbers of jobs. */
const JOBS_FRESH_MS = 10_000;

/** Remembers what this process did and which scores its models gave, for the dashboard. */
export class HealthKeeper implements HealthDesk, RequestCounter, AnalysisCounter {
  readonly scores: ScoreBook;
  readonly #history = new History();
  readonly #meter: ScoreMeter;
  readonly #parent: ParentLink | undefined;
  #jobsTimer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Logger, parent: ParentLink | undefined) {
    this.scores = new ScoreBook(database);
    this.#meter = new ScoreMeter(this.scores, {
      onError: (error) => log.warn({ err: error }, 'scores could not be counted in the database; will retry'),
    });
    this.#parent = parent;
  }

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
  start(gauges: Omit<Gauges, 'jobs'>, jobs: Pick<Jobs, 'countUnfinished'> | undefined): void {
    let known: ReturnType<Gauges['jobs']>;
    const look = async (): Promise<void> => {
      known = await jobs?.countUnfinished().catch(() => undefined);
    };
    if (this.#parent?.isFirst ?? true) {
      void look();
      this.#jobsTimer = setInterval(() => void look(), JOBS_FRESH_MS).unref();
    }
    this.#history.start({ ...gauges, jobs: () => known });
  }

  /** Of this process. */
  ownHistory(span: Span): Stretch {
    return this.#history.read(span);
  }

  async history(span: Span): Promise<{ readonly stretch: Stretch; readonly processes: number }> {
    const own = this.ownHistory(span);
    if (this.#parent === undefined) return { stretch: own, processes: 1 };
    const all = await this.#parent.historiesOfAll(span);
    const stretch = joinedStretches(all, joiningOverProcesses);
    return stretch === undefined ? { stretch: own, processes: 1 } : { stretch, processes: all.length };
  }

  flushScores(): Promise<void> {
    return this.#meter.flush();
  }

  /** To be called before the database is closed. */
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
