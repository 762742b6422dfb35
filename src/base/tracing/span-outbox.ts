// SPDX-License-Identifier: Apache-2.0
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';

export type DropReason = 'queue_full' | 'export_failed';

export interface OutboxEvents {
  readonly onExported: (spans: number) => void;
  readonly onDropped: (spans: number, reason: DropReason, error?: Error) => void;
}

/** Ended spans that wait for the collector or are on their way to it; about 1 KiB each. */
const MAX_WAITING = 4096;
const MAX_BATCH = 512;
const BATCH_WAIT_MS = 1000;
/** The exporter gives up earlier. */
const BACKSTOP_MS = 60_000;

/**
 * The SDK's batches, with a bound that also covers spans on their way, and with a count of all losses: the SDK itself drops in
 * silence.
 */
export class SpanOutbox implements SpanProcessor {
  readonly #events: OutboxEvents;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;

  constructor(exporter: SpanExporter, events: OutboxEvents) {
    this.#events = events;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#counting(exporter),
      maxQueueSize: MAX_WAITING,
      maxExportBatchSize: MAX_BATCH,
      scheduledDelayMillis: BATCH_WAIT_MS,
      exportTimeoutMillis: BACKSTOP_MS,
    });
  }

  onStart(_span: Span): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= MAX_WAITING) {
      this.#events.onDropped(1, 'queue_full');
      return;
    }
    this.#waiting++;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, whenDone) =>
        exporter.export(spans, (result) => {
          this.#waiting -= spans.length;
          if (result.error === undefined) this.#events.onExported(spans.length);
          else this.#events.onDropped(spans.length, 'export_failed', result.error);
          whenDone(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
  }
}
