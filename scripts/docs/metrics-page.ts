// SPDX-License-Identifier: Apache-2.0
import { type GaugeSources, ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { TraceMetrics } from '../../src/base/observe/trace-metrics.js';
import { JobMetrics } from '../../src/jobs/queue/job-metrics.js';
import { WebhookMetrics } from '../../src/jobs/webhooks/webhook-metrics.js';
import { processMetrics } from '../../src/service/supervision/process-metrics.js';

/** As prom-client keeps it; its types lack most of this. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly labelNames?: readonly string[];
}

const combined: Readonly<Record<string, string>> = {
  sum: 'sum',
  min: 'lowest',
  max: 'highest',
  average: 'mean',
  first: 'first',
  omit: 'left out',
};

/** Only the definitions are read, never a value. */
const unread = new Proxy({} as GaugeSources, { get: () => () => [] });
const unavailable = (): Promise<never> => Promise.reject(new Error('There is no database.'));

function everyMetric(): Metric[] {
  const metrics = new ServiceMetrics();
  metrics.declareGauges(unread);
  new JobMetrics(metrics.registry, unavailable, { workers: 0, busy: () => 0 });
  new WebhookMetrics(metrics.registry, unavailable);
  new TraceMetrics(metrics.registry);
  const all: readonly unknown[] = [
    ...metrics.registry.getMetricsAsArray(),
    ...processMetrics({ restarts: 0, hangs: 0 }),
  ];
  return all as Metric[];
}

function table(metrics: readonly Metric[]): string[] {
  const rows = metrics.map(({ name, type, labelNames = [], aggregator, help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labels} | ${combined[aggregator]} | ${help} |`;
  });
  return ['| Metric | Type | Labels | Processes | Meaning |', '|---|---|---|---|---|', ...rows];
}

/** The tables of `docs/metrics.md`. */
export function metricsTables(): string {
  const metrics = everyMetric();
  const isOwn = ({ name }: Metric): boolean => name.startsWith('veravox_');
  return [
    '## Metrics of veravox',
    '',
    ...table(metrics.filter(isOwn)),
    '',
    '## Metrics of Node.js and of the process',
    '',
    ...table(metrics.filter((metric) => !isOwn(metric))),
  ].join('\n');
}
