// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import type { HealthHistory } from 'veravox-client';
import { bytesInWords } from '../../logic/bytes.js';
import { count, inCount } from '../../logic/formats.js';
import {
  gauge,
  largest,
  latencyOverall,
  latencySeries,
  meanWaits,
  type NamedValues,
  type Outcome,
  outcomes,
  requestCounts,
  requestRates,
  timesOf,
  windowRates,
} from '../../logic/health-series.js';
import { printable } from '../../logic/printable.js';
import { HistoryPlot } from './history-plot.js';

const outcomeNames: Readonly<Record<Outcome, string>> = {
  ok: 'answered',
  client_error: 'refused (4xx)',
  limited: 'over limits (429, 503)',
  failed: 'failed (5xx)',
  gone: 'client left',
};

const KIB = 1024;
const perSecond = (value: number): string =>
  `${value >= 100 ? count(Math.round(value)) : Number(value.toPrecision(3))}/s`;
const milliseconds = (value: number): string =>
  value >= 10_000 ? `${round(value / 1000)} s` : `${value < 10 ? round(value) : Math.round(value)} ms`;
const percent = (value: number): string => `${Math.round(value)} %`;
const whole = (value: number): string => (Number.isInteger(value) ? count(value) : '');

const round = (value: number): string => String(Math.round(value * 100) / 100);

interface Shown {
  readonly title: string;
  /** The plot in one sentence. */
  readonly summary: string;
  readonly series: readonly NamedValues[];
  readonly format: (value: number) => string;
}

/** The server's work over time. */
export function HistoryPlots({ history }: { readonly history: HealthHistory }) {
  const times = useMemo(() => timesOf(history), [history]);
  const plots = useMemo(() => plotsOf(history), [history]);
  return (
    <section aria-labelledby="health-history">
      <h2 id="health-history">Over time</h2>
      <div class="cards plots">
        {plots.map((plot) => (
          <HistoryPlot key={plot.title} {...plot} times={times} />
        ))}
      </div>
    </section>
  );
}

const plotsOf = (history: HealthHistory): readonly Shown[] => [
  requests(history),
  latency(history),
  queue(history),
  waits(history),
  windows(history),
  memory(history),
  load(history),
  loopDelay(history),
  jobs(history),
];

/** With its noun. */
const of =
  (noun: string) =>
  (value: number): string =>
    inCount(value, noun);

function most(values: readonly (number | null)[], format: (value: number) => string): string {
  const value = largest(values);
  return value === undefined ? 'unknown' : format(value);
}

function requests(history: HealthHistory): Shown {
  const counts = requestCounts(history);
  const total = (outcome: Outcome): number => counts[outcome].reduce((sum, value) => sum + value, 0);
  const parts = outcomes
    .filter((outcome) => outcome === 'ok' || total(outcome) > 0)
    .map((outcome) => `${count(total(outcome))} ${outcomeNames[outcome]}`);
  return {
    title: 'Requests',
    summary: `${parts.join(', ')}. The dashboard and probes are not counted.`,
    series: requestRates(history, outcomeNames),
    format: perSecond,
  };
}

function latency(history: HealthHistory): Shown {
  const [median, p95, p99] = [0.5, 0.95, 0.99].map((share) => latencyOverall(history, share));
  const text = (value: number | undefined): string => (value === undefined ? '–' : milliseconds(value));
  return {
    title: 'Analysis time',
    summary:
      median === undefined
        ? 'There were no analyses.'
        : `Half took at most ${text(median)}, 95 % at most ${text(p95)}, 99 % at most ${text(p99)}.`,
    series: latencySeries(history),
    format: milliseconds,
  };
}

function queue(history: HealthHistory): Shown {
  const [inputs, inFlight] = [gauge(history, 'inputs_waiting'), gauge(history, 'requests_in_flight')];
  return {
    title: 'Queue',
    summary: `Most at once: ${most(inputs, of('model input'))} waiting, and ${most(inFlight, of('request'))} in flight.`,
    series: [
      { name: 'model inputs waiting', values: inputs },
      { name: 'requests in flight', values: inFlight },
    ],
    format: whole,
  };
}

function waits(history: HealthHistory): Shown {
  const [mean, expected] = [meanWaits(history), gauge(history, 'expected_wait_ms')];
  return {
    title: 'Wait for a thread',
    summary:
      largest(mean) === undefined
        ? 'There were no analyses.'
        : `On average, analyses waited at most ${most(mean, milliseconds)}; at most ${most(expected, milliseconds)} was expected.`,
    series: [
      { name: 'mean', values: mean },
      { name: 'expected', values: expected },
    ],
    format: milliseconds,
  };
}

function windows(history: HealthHistory): Shown {
  const series = windowRates(history).map(({ name, values }) => ({ name: printable(name), values }));
  const peaks = series.map(({ name, values }) => `${name} ${most(values, perSecond)}`);
  return {
    title: 'Scored windows',
    summary: peaks.length === 0 ? 'No windows were scored.' : `At most ${peaks.join(', ')}.`,
    series,
    format: perSecond,
  };
}

function memory(history: HealthHistory): Shown {
  const [rss, upload] = [gauge(history, 'rss_kib', KIB), gauge(history, 'upload_kib', KIB)];
  return {
    title: 'Memory',
    summary: `At most ${most(rss, bytesInWords)} resident; uploads in progress took at most ${most(upload, bytesInWords)}.`,
    series: [
      { name: 'resident', values: rss },
      { name: 'uploads', values: upload },
    ],
    format: bytesInWords,
  };
}

function load(history: HealthHistory): Shown {
  const [cpu, busy] = [gauge(history, 'cpu_percent'), gauge(history, 'loop_busy_percent')];
  return {
    title: 'Processor',
    summary: `At most ${most(cpu, percent)} of one core; the main thread was busy for at most ${most(busy, percent)} of the time.`,
    series: [
      { name: 'all threads', values: cpu },
      { name: 'main thread', values: busy },
    ],
    format: percent,
  };
}

function loopDelay(history: HealthHistory): Shown {
  const delay = gauge(history, 'loop_delay_ms');
  return {
    title: 'Event loop delay',
    summary: `At most ${most(delay, milliseconds)}. Meanwhile the server neither receives nor answers.`,
    series: [{ name: 'longest delay', values: delay }],
    format: milliseconds,
  };
}

function jobs(history: HealthHistory): Shown {
  const [queued, running] = [gauge(history, 'jobs_queued'), gauge(history, 'jobs_running')];
  const [busy, streams] = [gauge(history, 'jobs_busy'), gauge(history, 'streams')];
  return {
    title: 'Jobs and streams',
    summary:
      `Most at once: ${most(queued, of('job'))} waiting and ${most(running, whole)} running, on all hosts with this database; ` +
      `${most(busy, whole)} of them here; ${most(streams, of('open stream'))}.`,
    series: [
      { name: 'jobs waiting', values: queued },
      { name: 'jobs running', values: running },
      { name: 'jobs running here', values: busy },
      { name: 'streams', values: streams },
    ],
    format: whole,
  };
}
