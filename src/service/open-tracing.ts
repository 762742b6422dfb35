// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import type { Logger } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { once } from '../base/once.js';
import { lookUpOwn } from '../base/outgoing/names.js';
import type { Sampling } from '../base/tracing/otlp-tracing.js';
import type { Tracing } from '../base/tracing/tracing.js';

export type TracingSettings = Pick<
  Config,
  'otlpEndpoint' | 'otlpHeaders' | 'serviceName' | 'traceSampler' | 'traceSamplerRatio'
>;

const WARNING_PAUSE_MS = 60_000;

/** Traces for the configured collector; undefined without one, and then nothing of OpenTelemetry is loaded. */
export async function openTracing(
  settings: TracingSettings,
  metrics: ServiceMetrics,
  log: Logger,
): Promise<Tracing | undefined> {
  const { otlpEndpoint: url, otlpHeaders, serviceName, traceSampler: sampler } = settings;
  if (url === undefined) return undefined;
  const { OtlpTracing } = await import('../base/tracing/otlp-tracing.js');
  const { TraceMetrics } = await import('../base/observe/trace-metrics.js');
  const counts = new TraceMetrics(metrics.registry);
  let quietUntilMs = 0;
  const sampling = samplingOf(settings);
  log.info({ collector: new URL(url).origin, sampler, ratio: sampling.ratio }, 'traces go to a collector');
  const tracing = new OtlpTracing({
    url,
    headers: otlpHeaders?.() ?? {},
    serviceName,
    version: packageVersion,
    sampling,
    lookup: lookUpOwn,
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

function samplingOf({ traceSampler, traceSamplerRatio = 1 }: TracingSettings): Sampling {
  const followsParent = traceSampler.startsWith('parentbased_');
  if (traceSampler.endsWith('traceidratio')) return { ratio: traceSamplerRatio, followsParent };
  return { ratio: traceSampler.endsWith('always_on') ? 1 : 0, followsParent };
}
