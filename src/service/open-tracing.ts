// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import type { Logger } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { once } from '../base/once.js';
import type { Tracing } from '../base/tracing/tracing.js';

export type TracingSettings = Pick<Config, 'otlpEndpoint' | 'otlpHeaders' | 'traceRatio' | 'traceService'>;

const WARNING_PAUSE_MS = 60_000;

/** Traces for the configured collector; undefined without one, and then nothing of OpenTelemetry is loaded. */
export async function openTracing(
  { otlpEndpoint: url, otlpHeaders, traceRatio: ratio = 1, traceService: serviceName }: TracingSettings,
  metrics: ServiceMetrics,
  log: Logger,
): Promise<Tracing | undefined> {
  if (url === undefined) return undefined;
  const { OtlpTracing } = await import('../base/tracing/otlp-tracing.js');
  const { TraceMetrics } = await import('../base/observe/trace-metrics.js');
  const counts = new TraceMetrics(metrics.registry);
  let quietUntilMs = 0;
  log.info({ collector: new URL(url).origin, ratio }, 'traces go to a collector');
  const tracing = new OtlpTracing({
    url,
    headers: otlpHeaders?.() ?? {},
    serviceName,
    version: packageVersion,
    ratio,
    onExported: (spans) => counts.countExported(spans),
    onDropped(spans, reason, error) {
      counts.countDropped(spans, reason);
      if (performance.now() < quietUntilMs) return;
      quietUntilMs = performance.now() + WARNING_PAUSE_MS;
      // Of an error its message only: others of its fields may hold headers.
      log.warn(
        { reason, ...(error && { problem: error.message }) },
        'traces are lost; see veravox_trace_spans_dropped_total',
      );
    },
  });
  return { begin: (start) => tracing.begin(start), close: once(() => tracing.close()) };
}
