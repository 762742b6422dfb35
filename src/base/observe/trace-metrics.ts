// SPDX-License-Identifier: Apache-2.0
import { Counter, type Registry } from 'prom-client';
import type { DropReason } from '../tracing/span-outbox.js';

const reasons: readonly DropReason[] = ['queue_full', 'export_failed'];

/** The Prometheus series of traces. */
export class TraceMetrics {
  readonly #exported: Counter;
  readonly #dropped: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#exported = new Counter({
      name: 'veravox_trace_spans_exported_total',
      help: 'Spans that the collector has taken.',
      registers,
    });
    this.#dropped = new Counter({
      name: 'veravox_trace_spans_dropped_total',
      help: 'Spans lost: too many were waiting, or the collector did not take them.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of reasons) this.#dropped.labels(reason).inc(0);
  }

  countExported(spans: number): void {
    this.#exported.inc(spans);
  }

  countDropped(spans: number, reason: DropReason): void {
    this.#dropped.labels(reason).inc(spans);
  }
}
