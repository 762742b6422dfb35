// SPDX-License-Identifier: Apache-2.0
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { catalogue, type ErrorKey } from '../errors/catalogue.js';
import { type CloseReason, closeReasons } from './close-reason.js';
import { CLIENT_GONE_STATUS, fetchOutcomes, type RequestRecord } from './request-record.js';
import { type Stage, stages } from './timing.js';

const STAGE_BUCKETS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120,
];
const providers = ['cpu', 'cuda'] as const;
const threadPools = ['prepare', 'scoring'] as const;
const reloadResults = ['loaded', 'failed'] as const;
export type ReloadResult = (typeof reloadResults)[number];

/** What the gauges show; read when somebody asks for the metrics, never kept up to date in between. */
export interface GaugeSources {
  requestsInFlight(): number;
  transfersInFlight(): number;
  expectedWaitS(): number;
  connections(): number;
  /** Bytes of answers that clients have not taken yet. */
  heldAnswerBytes(): number;
  /** Sets of models in memory: that in use, and those that earlier requests still go on with. */
  modelSets(): number;
  models(): {
    detectors: readonly { id: string; aliases: readonly string[] }[];
    speakerModels: readonly { id: string }[];
  };
  uploadsWaiting(): number;
  arenaUsedBytes(): number;
  arenaTotalBytes(): number;
  ready(): boolean;
  /** Known answers that do not hold. */
  wrongAnswers(): number;
  provider(): (typeof providers)[number];
  /** True when CUDA was wanted but the CPU runs the models. */
  fellBackToCpu(): boolean;
}

const statuses = [
  ...new Set([200, 204, 206, CLIENT_GONE_STATUS, ...Object.values(catalogue).map((entry) => entry.status)]),
];

interface RouteSeries {
  readonly requests: Map<number, Counter.Internal>;
  readonly seconds: Histogram.Internal<'route'>;
}

/** The Prometheus series of the server. All of them exist, at zero, before the first request. */
export class ServiceMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'route' | 'status'>;
  readonly #requestSeconds: Histogram<'route'>;
  /** Found once: looking a series up by its labels costs more than counting. */
  readonly #ofRoute = new Map<string, RouteSeries>();
  readonly #stageSeconds = new Map<Stage, Histogram.Internal<'stage'>>();
  readonly #errors = new Map<ErrorKey, Counter.Internal>();
  readonly #fetches: Counter<'outcome'>;
  readonly #receivedBytes: Counter;
  readonly #audioSeconds: Counter;
  readonly #windowsScored: Counter;
  readonly #skippedSeconds: Counter;
  readonly auditLinesLost: Counter;
  readonly logLinesDropped: Counter;
  readonly logLinesLeftOut: Counter;
  readonly #reloads: Counter<'result'>;
  readonly #threadFailures: Counter<'pool'>;
  readonly #closed: Counter<'reason'>;

  /** What to answer instead of this registry's own series, where several processes are one server. */
  gather: (() => Promise<string>) | undefined;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'veravox_http_requests_total',
      help: 'Requests that are over, by route and status; 499 is a client that went away.',
      labelNames: ['route', 'status'],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'veravox_http_request_seconds',
      help: 'From the headers to the answer.',
      labelNames: ['route'],
      buckets: STAGE_BUCKETS_S,
      registers,
    });
    const stageSeconds = new Histogram({
      name: 'veravox_stage_seconds',
      help: 'Time that one analysis spent in a stage.',
      labelNames: ['stage'],
      buckets: STAGE_BUCKETS_S,
      registers,
    });
    for (const stage of stages) {
      stageSeconds.zero({ stage });
      this.#stageSeconds.set(stage, stageSeconds.labels({ stage }));
    }
    const errors = new Counter({
      name: 'veravox_errors_total',
      help: 'Errors by their key in the catalogue.',
      labelNames: ['key'],
      registers,
    });
    for (const key of Object.keys(catalogue) as ErrorKey[]) {
      const child = errors.labels({ key });
      child.inc(0);
      this.#errors.set(key, child);
    }
    this.#fetches = new Counter({
      name: 'veravox_fetches_total',
      help: 'Files fetched from behind a presigned_url, by outcome; the errors tell why one did not come.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of fetchOutcomes) this.#fetches.labels(outcome).inc(0);
    this.#reloads = new Counter({
      name: 'veravox_reload_total',
      help: 'Reloads of the models, by result; one that failed has changed nothing.',
      labelNames: ['result'],
      registers,
    });
    for (const result of reloadResults) this.#reloads.labels(result).inc(0);
    this.#threadFailures = new Counter({
      name: 'veravox_thread_failures_total',
      help: 'Threads that died while they had nothing to do, by pool; each was replaced.',
      labelNames: ['pool'],
      registers,
    });
    for (const pool of threadPools) this.#threadFailures.labels(pool).inc(0);
    this.#closed = new Counter({
      name: 'veravox_connections_closed_total',
      help: 'Connections that the server ended to protect itself: over a limit of connections, for want of descriptors or of memory for answers, answers that were not taken, requests of unclear length.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of closeReasons) this.#closed.labels(reason).inc(0);
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    this.#receivedBytes = counter(
      'veravox_received_bytes_total',
      'Bytes of request bodies, and of fetched files, that arrived in full.',
    );
    this.#audioSeconds = counter('veravox_audio_seconds_total', 'Seconds of audio in answered analyses.');
    this.#windowsScored = counter('veravox_windows_scored_total', 'Windows that a model scored.');
    this.#skippedSeconds = counter(
      'veravox_skipped_audio_seconds_total',
      'Seconds not scored for lack of speech.',
    );
    this.auditLinesLost = counter(
      'veravox_audit_lines_lost_total',
      'Requests without an audit line: too many without a key, too many refusals of one key, or a disk that takes no more.',
    );
    this.logLinesDropped = counter(
      'veravox_log_lines_dropped_total',
      'Lines of the log that standard output did not take in time: a full disk, or a reader that stands still.',
    );
    this.logLinesLeftOut = counter(
      'veravox_log_lines_left_out_total',
      'Refused requests without a line in the log: more than 10 of one key in a second.',
    );
  }

  /** All series, as Prometheus reads them. */
  text(): Promise<string> {
    return this.gather?.() ?? this.registry.metrics();
  }

  countClosed(reason: CloseReason): void {
    this.#closed.labels(reason).inc();
  }

  countReload(result: ReloadResult): void {
    this.#reloads.labels(result).inc();
  }

  countThreadFailure(pool: (typeof threadPools)[number]): void {
    this.#threadFailures.labels(pool).inc();
  }

  /** Declares the series of a route, so that they are there before its first request. */
  declareRoute(route: string): void {
    for (const status of statuses) this.#requests.labels(route, String(status)).inc(0);
    this.#requestSeconds.zero({ route });
  }

  declareGauges(sources: GaugeSources): void {
    // Where several processes are one server, their values are added up unless said otherwise.
    const gauge = (
      name: string,
      help: string,
      read: () => number,
      aggregator: 'sum' | 'min' | 'max' = 'sum',
    ): void => {
      new Gauge({
        name,
        help,
        aggregator,
        registers: [this.registry],
        collect() {
          this.set(read());
        },
      });
    };
    gauge(
      'veravox_requests_in_flight',
      'Admitted requests that are not answered yet, without transfers.',
      sources.requestsInFlight,
    );
    gauge(
      'veravox_transfers_in_flight',
      'Uploads and downloads through links to the data folder that are not over yet.',
      sources.transfersInFlight,
    );
    gauge(
      'veravox_expected_wait_seconds',
      'How long a request that comes now would wait for a thread.',
      sources.expectedWaitS,
      'max',
    );
    gauge('veravox_connections', 'Open connections.', sources.connections);
    gauge(
      'veravox_held_answer_bytes',
      'Answers, or the rest of them, that clients have not taken yet.',
      sources.heldAnswerBytes,
    );
    gauge('veravox_uploads_waiting', 'Uploads that wait for room in the arena.', sources.uploadsWaiting);
    gauge('veravox_upload_arena_used_bytes', 'Upload memory in use.', sources.arenaUsedBytes);
    gauge('veravox_upload_arena_total_bytes', 'Upload memory there is.', sources.arenaTotalBytes);
    gauge('veravox_ready', '1 when /readyz answers 200.', () => Number(sources.ready()), 'min');
    gauge(
      'veravox_wrong_answers',
      'Known answers of models that do not hold; /readyz then answers 503, and names them to operators.',
      sources.wrongAnswers,
      'max',
    );
    gauge(
      'veravox_cpu_fallback',
      '1 when CUDA was wanted but the CPU runs the models.',
      () => Number(sources.fellBackToCpu()),
      'max',
    );
    gauge(
      'veravox_model_sets',
      'Sets of models in memory: 1, and one for each reload whose earlier models still answer requests.',
      sources.modelSets,
      'max',
    );
    new Gauge({
      name: 'veravox_model_info',
      help: '1 for each name that requests may give for a model; `id` is the exact one.',
      labelNames: ['task', 'model', 'id'],
      aggregator: 'max',
      registers: [this.registry],
      collect() {
        // Models that are gone after a reload are no longer told of.
        this.reset();
        const { detectors, speakerModels } = sources.models();
        for (const { id, aliases } of detectors) {
          for (const model of [id, ...aliases]) this.set({ task: 'detection', model, id }, 1);
        }
        for (const { id } of speakerModels) this.set({ task: 'speaker', model: id, id }, 1);
      },
    });
    new Gauge({
      name: 'veravox_provider_info',
      help: '1 for what runs the models.',
      labelNames: ['provider'],
      aggregator: 'max',
      registers: [this.registry],
      collect() {
        for (const provider of providers) this.set({ provider }, Number(provider === sources.provider()));
      },
    });
  }

  /** The one place where a request is counted. */
  count(record: RequestRecord): void {
    const { requests, seconds } = this.#seriesOf(record.route);
    let requestsOfStatus = requests.get(record.status);
    if (requestsOfStatus === undefined) {
      requestsOfStatus = this.#requests.labels(record.route, String(record.status));
      requests.set(record.status, requestsOfStatus);
    }
    requestsOfStatus.inc();
    seconds.observe(record.totalMs / 1000);
    if (record.errorKey !== undefined) this.#errors.get(record.errorKey)?.inc();
    for (const stage of stages) {
      const durationMs = record.stagesMs[stage];
      if (durationMs !== undefined) this.#stageSeconds.get(stage)?.observe(durationMs / 1000);
    }
    if (record.fetch !== undefined) this.#fetches.labels(record.fetch).inc();
    if (record.bodyBytes !== undefined) this.#receivedBytes.inc(record.bodyBytes);
    if (record.audioS !== undefined) this.#audioSeconds.inc(record.audioS);
    if (record.scoredWindows !== undefined) this.#windowsScored.inc(record.scoredWindows);
    if (record.skippedS !== undefined) this.#skippedSeconds.inc(record.skippedS);
  }

  #seriesOf(route: string): RouteSeries {
    let series = this.#ofRoute.get(route);
    if (series === undefined) {
      series = { requests: new Map(), seconds: this.#requestSeconds.labels(route) };
      this.#ofRoute.set(route, series);
    }
    return series;
  }
}
