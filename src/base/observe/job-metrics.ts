// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

const waitingStates = ['queued', 'running'] as const;
export type UnfinishedJobs = Readonly<Record<(typeof waitingStates)[number], number>>;

const turnOutcomes = ['succeeded', 'failed', 'retried', 'given back', 'lost'] as const;
export type TurnOutcome = (typeof turnOutcomes)[number];

/** The Prometheus series of jobs. */
export class JobMetrics {
  readonly #turns: Counter<'outcome'>;
  readonly #audioSeconds: Counter;

  /** @param unfinished rejects while the database is not there; the gauges then keep their values */
  constructor(registry: Registry, unfinished: () => Promise<UnfinishedJobs>) {
    const registers = [registry];
    new Gauge({
      name: 'veravox_jobs',
      help: 'Jobs of all hosts with the same database, by state.',
      labelNames: ['state'],
      aggregator: 'max',
      registers,
      async collect() {
        try {
          const jobs = await unfinished();
          for (const state of waitingStates) this.set({ state }, jobs[state]);
        } catch {
          // veravox_database_up says it.
        }
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
