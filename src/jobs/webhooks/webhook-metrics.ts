// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';
import { FIGURES_FRESH_MS, freshFor, fromDatabase } from '../../base/observe/fresh-for.js';

const outcomes = ['delivered', 'retried', 'failed'] as const;
export type AttemptOutcome = (typeof outcomes)[number];

/** The Prometheus series of webhooks. */
export class WebhookMetrics {
  readonly #attempts: Counter<'outcome'>;

  /** @param waiting rejects while the database is not there; the gauge then keeps its value */
  constructor(registry: Registry, waiting: () => Promise<number>) {
    const registers = [registry];
    const read = freshFor(FIGURES_FRESH_MS, waiting);
    new Gauge({
      name: 'veravox_webhooks_waiting',
      help: 'Webhooks of all hosts with the same database that are not delivered yet.',
      aggregator: 'max',
      registers,
      collect() {
        return fromDatabase(async () => this.set(await read()));
      },
    });
    this.#attempts = new Counter({
      name: 'veravox_webhook_attempts_total',
      help: 'Requests to callback URLs by outcome: after `retried`, there will be another one.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of outcomes) this.#attempts.labels(outcome).inc(0);
  }

  countAttempt(outcome: AttemptOutcome): void {
    this.#attempts.labels(outcome).inc();
  }
}
