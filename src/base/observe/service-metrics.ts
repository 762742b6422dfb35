// SPDX-License-Identifier: Apache-2.0
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { packageCommit, packageVersion } from '../config/package-dir.js';
import { catalogue, type ErrorKey } from '../errors/catalogue.js';
import { type CloseReason, closeReasons } from './close-reason.js';
import { DeviceMetrics, type DeviceSources } from './device-metrics.js';
import { fetchOutcomes, type RequestRecord } from './request-record.js';
import { type Stage, stages } from './timing.js';

const STAGE_BUCKETS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120,
];
const providers = ['cpu', 'cuda', 'webgpu'] as const;
const threadPools = ['prepare', 'scoring'] as const;
const reloadResults = ['loaded', 'failed'] as const;
export type ReloadResult = (typeof reloadResults)[number];

/** Sources of the gauges, read only when the metrics are requested. */
export interface GaugeSources extends DeviceSources {
  requestsInFlight(): number;
  transfersInFlight(): number;
  eventStreams(): number;
  streams(): number;
  /** Streams whose client has lost its connection. */
  streamsAway(): number;
  expectedWaitS(): number;
  connections(): number;
  /** Bytes of unread answers. */
  heldAnswerBytes(): number;
  /** Sets of models in memory: the current one, and those still used by earlier requests. */
  modelSets(): number;
  models(): {
    detectors: readonly { id: string; aliases: readonly string[] }[];
    speakerModels: readonly { id: string }[];
  };
  uploadsWaiting(): number;
  clientMemoryBytes(): number;
  arenaUsedBytes(): number;
  arenaTotalBytes(): number;
  ready(): boolean;
  databaseUp(): boolean;
  /** Failed known-answer checks. */
  wrongAnswers(): number;
  provider(): (typeof providers)[number];
  /** True if a GPU was requested but the CPU runs the models. */
  fellBackToCpu(): boolean;
}

interface RouteSeries {
  readonly requests: Map<number, Counter.Internal>;
  readonly seconds: Histogram.Internal<'route'>;
}

/**
 * The Prometheus series of the server. A route's series exist from its first request on: routes times statuses times buckets
 * would be thousands of zeros. All others exist, at zero, from the start.
 */
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
  readonly devices: DeviceMetrics;

  /** Gives the series of all processes together, if there are several. */
  gather: (() => Promise<string>) | undefined;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'veravox_build_info',
      help: 'Always 1; the labels say what runs.',
      labelNames: ['version', 'commit', 'node'],
      aggregator: 'max',
      registers,
    })
      .labels(packageVersion, packageCommit, process.versions.node)
      .set(1);
    this.#requests = new Counter({
      name: 'veravox_http_requests_total',
      help: 'Finished requests by route and status; 499 means that the client disconnected.',
      labelNames: ['route', 'status'],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'veravox_http_request_seconds',
      help: 'Time from the headers to the answer.',
      labelNames: ['route'],
      buckets: STAGE_BUCKETS_S,
      registers,
    });
    const stageSeconds = new Histogram({
      name: 'veravox_stage_seconds',
      help: 'Time of one analysis in a stage.',
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
      help: 'Errors by key; see docs/errors.md.',
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
      help: 'Fetches of a presigned_url by outcome; veravox_errors_total has the reasons for failures.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of fetchOutcomes) this.#fetches.labels(outcome).inc(0);
    this.#reloads = new Counter({
      name: 'veravox_reload_total',
      help: 'Reloads of the models by result; a failed one changes nothing.',
      labelNames: ['result'],
      registers,
    });
    for (const result of reloadResults) this.#reloads.labels(result).inc(0);
    this.#threadFailures = new Counter({
      name: 'veravox_thread_failures_total',
      help: 'Threads that died while idle, by pool; each was replaced.',
      labelNames: ['pool'],
      registers,
    });
    for (const pool of threadPools) this.#threadFailures.labels(pool).inc(0);
    this.#closed = new Counter({
      name: 'veravox_connections_closed_total',
      help: 'Connections closed for protection: connection limits, too few descriptors, too little memory for answers, unread answers, bodies in tiny chunks, requests of unclear length.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of closeReasons) this.#closed.labels(reason).inc(0);
    this.devices = new DeviceMetrics(this.registry);
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    this.#receivedBytes = counter(
      'veravox_received_bytes_total',
      'Bytes of complete request bodies and fetched files.',
    );
    this.#audioSeconds = counter('veravox_audio_seconds_total', 'Seconds of audio in answered analyses.');
    this.#windowsScored = counter('veravox_windows_scored_total', 'Windows scored by a model.');
    this.#skippedSeconds = counter(
      'veravox_skipped_audio_seconds_total',
      'Seconds of audio skipped for lack of speech.',
    );
    this.auditLinesLost = counter(
      'veravox_audit_lines_lost_total',
      'Requests without an audit line: too many without a key, too many refusals of one key, or a full disk.',
    );
    this.logLinesDropped = counter(
      'veravox_log_lines_dropped_total',
      'Log lines dropped because standard output was too slow: a full disk or a stalled reader.',
    );
    this.logLinesLeftOut = counter(
      'veravox_log_lines_left_out_total',
      'Refused requests without a log line: more than 10 of one key in a second.',
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

  declareGauges(sources: GaugeSources): void {
    // With several processes, values are added up unless another aggregator is given.
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
      'Admitted requests without an answer yet, excluding transfers.',
      sources.requestsInFlight,
    );
    gauge(
      'veravox_transfers_in_flight',
      'Uploads and downloads in progress through links to the data folder.',
      sources.transfersInFlight,
    );
    gauge('veravox_event_streams', 'Clients that follow a job or a call.', sources.eventStreams);
    gauge('veravox_streams', 'Open streams of live audio.', sources.streams);
    gauge(
      'veravox_streams_away',
      'Streams whose client has lost its connection and may come back.',
      sources.streamsAway,
    );
    gauge(
      'veravox_expected_wait_seconds',
      'Expected wait of a new request for a thread.',
      sources.expectedWaitS,
      'max',
    );
    gauge('veravox_connections', 'Open connections.', sources.connections);
    gauge(
      'veravox_held_answer_bytes',
      'Bytes of answers that clients have not read yet.',
      sources.heldAnswerBytes,
    );
    gauge('veravox_uploads_waiting', 'Uploads waiting for memory.', sources.uploadsWaiting);
    gauge(
      'veravox_client_memory_bytes',
      'Memory that clients hold of `VERAVOX_MAX_INFLIGHT_BYTES`, for uploads and everything else.',
      sources.clientMemoryBytes,
    );
    gauge('veravox_upload_arena_used_bytes', 'Upload memory in use.', sources.arenaUsedBytes);
    gauge('veravox_upload_arena_total_bytes', 'Total upload memory.', sources.arenaTotalBytes);
    this.devices.declare(sources);
    gauge('veravox_ready', '1 if /readyz answers 200.', () => Number(sources.ready()), 'min');
    gauge(
      'veravox_database_up',
      '1 while the database answers. Without it, requests with known keys go on.',
      () => Number(sources.databaseUp()),
      'min',
    );
    gauge(
      'veravox_wrong_answers',
      'Failed known-answer checks; /readyz then answers 503 and lists them for operators.',
      sources.wrongAnswers,
      'max',
    );
    gauge(
      'veravox_cpu_fallback',
      '1 if a GPU was requested but the CPU runs the models.',
      () => Number(sources.fellBackToCpu()),
      'max',
    );
    gauge(
      'veravox_model_sets',
      'Sets of models in memory: 1, plus one for each reload whose old models still answer requests.',
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
        // Removes models that a reload has dropped.
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
      help: '1 for the device that runs the models.',
      labelNames: ['provider'],
      aggregator: 'max',
      registers: [this.registry],
      collect() {
        for (const provider of providers) this.set({ provider }, Number(provider === sources.provider()));
      },
    });
  }

  countRequest(record: RequestRecord): void {
    const { times = 1 } = record;
    const { requests, seconds } = this.#seriesOf(record.route);
    let requestsOfStatus = requests.get(record.status);
    if (requestsOfStatus === undefined) {
      requestsOfStatus = this.#requests.labels(record.route, String(record.status));
      requests.set(record.status, requestsOfStatus);
    }
    requestsOfStatus.inc(times);
    for (let i = 0; i < times; i++) seconds.observe(record.totalMs / 1000);
    if (record.errorKey !== undefined) this.#errors.get(record.errorKey)?.inc(times);
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
