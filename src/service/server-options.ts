// SPDX-License-Identifier: Apache-2.0
import type { FullAnalyser } from '../analysis/analyser/recording.js';
import type { CheckedModels } from '../analysis/known-answers/checked-models.js';
import type { UploadArena } from '../analysis/memory/arena.js';
import type { InFlightElsewhere } from '../api/admission/key-concurrency.js';
import type { RateCounter } from '../api/admission/rate-limits.js';
import type { FetchSurroundings } from '../api/fetch/presigned-fetcher.js';
import type { ProfileStore } from '../api/routes/profile-bodies.js';
import type { Route } from '../api/routes/route.js';
import type { Closers } from '../base/closers.js';
import type { Config } from '../base/config/options.js';
import type { Logger } from '../base/observe/log.js';
import type { RequestRecorder } from '../base/observe/request-record.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import type { Tracing } from '../base/tracing/tracing.js';
import type { Console } from '../console/console-wing.js';
import type { JobParts } from '../jobs/queue/job-parts.js';
import type { DatabaseState } from '../state/database/database.js';
import type { Authenticator } from '../state/keys/authenticator.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import type { FileStore } from '../state/storage/open-storage.js';

export interface ServerOptions {
  readonly config: Config;
  /** Gets the parts that the server opens itself; earlier ones are closed after them. */
  readonly closers: Closers;
  /** Closed with the server. */
  readonly analyser: FullAnalyser;
  /** Wrong answers of its models in the self-check at start. */
  readonly wrongAnswers: CheckedModels['wrongAnswers'];
  /** The same arena that the analyser's threads read from. */
  readonly arena: UploadArena;
  readonly keys: Authenticator;
  /** Whether the database has answered lately, and can be written. */
  readonly databaseState: () => DatabaseState;
  readonly files: FileStore;
  /** Points a request may name. */
  readonly operatingPoints: OperatingPoints;
  readonly profiles: ProfileStore;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  /** Undefined without traces. */
  readonly tracing: Tracing | undefined;
  /** Other processes of the same server listen on its ports also. */
  readonly isPortShared: boolean;
  /** Told of every request to the API. */
  readonly recorders: readonly RequestRecorder[];
  /** Beginnings of links to the configured storage; by default from `files`. */
  readonly storagePrefixes?: (port: number) => readonly string[];
  readonly fetchSurroundings?: Partial<FetchSurroundings>;
  readonly jobs: JobParts;
  /** Without one there is no dashboard and no admin API, and nothing is remembered for them. */
  readonly console: Console | undefined;
  /** Shared with the other processes of the same server; absent without any. */
  readonly rates?: RateCounter;
  readonly inFlightElsewhere?: InFlightElsewhere;
  /** The clock of streams' time limits; default `performance.now`. */
  readonly streamClockMs?: () => number;
}

export interface RunningServer {
  readonly port: number;
  /** Undefined without an admin address. */
  readonly adminPort: number | undefined;
  /** Routes for requests that begin now. */
  readonly routes: readonly Route[];
  /**
   * Answers requests that begin from now on with other models and operating points. Earlier requests go on with the ones
   * before, and the models are closed when the last of them is over.
   * @throws Error when the configuration names a model or a point that is not among them; then nothing has changed
   */
  replaceModels(analyser: FullAnalyser, operatingPoints: OperatingPoints): void;
  /**
   * Requests that begin from now on may name these.
   * @throws Error when the configuration names a point that is not among them; then nothing has changed
   */
  replaceOperatingPoints(operatingPoints: OperatingPoints): void;
  /**
   * Reads the certificate and its key again, for connections that are opened from now on; nothing without TLS.
   * @throws Error that says why they cannot be used; then nothing has changed
   */
  renewTls(): void;
  /**
   * Not ready at once; then takes requests for `stopGraceMs` more, so that load balancers notice; then no new ones, and
   * those in flight get `stopDrainMs`; then closes everything in `closers`. Later calls wait for the first.
   */
  stop(): Promise<void>;
}
