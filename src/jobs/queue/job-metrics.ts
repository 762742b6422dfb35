// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';
import { FIGURES_FRESH_MS, freshFor, fromDatabase } from '../../base/observe/fresh-for.js';

const waitingStates = ['queued', 'running'] as const;

/** Of all hosts with the same database. */
export interface UnfinishedJobs extends Readonly<Record<(typeof waitingStates)[number], number>> {
  /** Creation time of the oldest one that no worker has begun; undefined without any. */
  readonly oldestAtMs: number | undefined;
}

/** Of this process. */
export interface WorkerCounts {
  readonly workers: number;
  busy(): number;
}

const turnOutcomes = ['succeeded', 'failed', 'retried', 'given back', 'lost'] as const;
export type TurnOutcome = (typeof turnOutcomes)[number];

/** The Prometheus series of jobs. */
export class JobMetrics {
  readonly #turns: Counter<'outcome'>;
  readonly #audioSeconds: Counter;

  /** @param unfinished rejects while the database is not there; the gauges then keep their values */
  constructor(
    registry: Registry,
    unfinished: () => Promise<UnfinishedJobs>,
    { workers, busy }: WorkerCounts,
  ) {
    const registers = [registry];
    const read = freshFor(FIGURES_FRESH_MS, unfinished);
    new Gauge({
      name: 'veravox_jobs',
      help: 'Jobs of all hosts with the same database, by state. Of batches, the lines in the queue count.',
      labelNames: ['state'],
      aggregator: 'max',
      registers,
      collect() {
        return fromDatabase(async () => {
          const jobs = await read();
          for (const state of waitingStates) this.set({ state }, jobs[state]);
        });
      },
    });
    new Gauge({
      name: 'veravox_oldest_queued_job_seconds',
      help: 'Age of the oldest job of all hosts that no worker has begun; 0 without any.',
      aggregator: 'max',
      registers,
      collect() {
        return fromDatabase(async () => {
          const { oldestAtMs = Date.now() } = await read();
          this.set(Math.max(0, Date.now() - oldestAtMs) / 1000);
        });
      },
    });
    new Gauge({
      name: 'veravox_job_workers',
      help: 'Jobs that this server works on at most.',
      registers,
    }).set(workers);
    new Gauge({
      name: 'veravox_job_workers_busy',
      help: 'Jobs that this server works on.',
      registers,
      collect() {
        this.set(busy());
      },
    });
    this.#turns = new Counter({
      name: 'veravox_job_turns_total',
      help: "Workers' turns with jobs by outcome: `retried`, `given back` and `lost` jobs are not over.",
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of turnOutcomes) this.#turns.labels(outcome).inc(0);
    this.#audioSeconds = new Counter({
      name: 'veravox_job_audio_seconds_total',
      help: 'Seconds of audio in jobs that succeeded.',
      registers,
    });
  }

  countTurn(outcome: TurnOutcome, audioS: number): void {
    this.#turns.labels(outcome).inc();
    this.#audioSeconds.inc(audioS);
  }
}
