// SPDX-License-Identifier: Apache-2.0
//
// This room runs several processes on one port: it starts and replaces them, ends hung ones, and
// lets them share limits.
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObject, type PrometheusContentType } from 'prom-client';
import type { RateCounter } from '../../api/admission/rate-limits.js';
import { BackOff } from '../../base/back-off.js';
import { PROCESS_INDEX } from '../../base/config/process-place.js';
import { METRICS_PAUSE_MS, seldom } from '../../base/observe/fresh-for.js';
import type { Logger } from '../../base/observe/log.js';
import type { DeadlyInputs } from '../../state/crash-notes/deadly-inputs.js';
import { removeIncomingOf } from '../../state/data-folder/data-folder.js';
import { processState } from '../../state/data-folder/process-state.js';
import { Heartbeat } from './heartbeat.js';
import { InFlightCounts } from './in-flight-counts.js';
import type { Question, ReloadResult, ToProcess, ToSupervisor } from './messages.js';
import { processMetrics } from './process-metrics.js';
import { ProcessQuestions } from './process-questions.js';

export interface SupervisorOptions {
  readonly processes: number;
  /** A process that does not answer for this long is ended; 0 lets it be. */
  readonly hangTimeoutMs: number;
  /** Shared by all processes. */
  readonly port: number;
  readonly dataDir: string;
  /** Every process inherits it. */
  readonly lockDescriptor: number;
  readonly deadlyInputs: DeadlyInputs | undefined;
  /** Counts for all processes; asked for keys with a rate of their own. */
  readonly rates: RateCounter;
  readonly log: Logger;
}

/** A process that never listened, by its exit code. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('A process of the server ended before it listened.');
    this.exitCode = exitCode;
  }
}

/** One place among the processes, whichever process fills it at the moment. */
interface Place {
  readonly index: number;
  readonly backOff: BackOff;
  worker: Worker | undefined;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Runs the server as several processes on one port, starts dead ones again, and passes orders on. Holds no request: the death
 * of one process leaves the requests of the others alone.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #places: Place[];
  readonly #questions = new ProcessQuestions(tell);
  /** Each process answers many who ask for it. */
  readonly #metricsText = seldom(METRICS_PAUSE_MS, () => this.#gatherMetrics());
  readonly #inFlight = new InFlightCounts<Worker>();
  /** Processes that do not hear anything yet, with their orders. */
  readonly #unopened = new Map<Worker, ToProcess[]>();
  readonly #heartbeats = new Map<Worker, Heartbeat>();
  /** Processes that said so when they last answered. */
  readonly #debugged = new WeakSet<Worker>();
  #restarts = 0;
  #hangs = 0;
  #isStopping = false;
  #isReloading = false;
  #isReloadWantedAgain = false;
  /** Told the result of the process that reloads at the moment. */
  #onReloaded: ((worker: Worker, result: ReloadResult) => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.processes }, (_, index) => ({
      index,
      backOff: new BackOff(),
      worker: undefined,
      startedMs: 0,
      timer: undefined,
    }));
    cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', options.lockDescriptor] });
    cluster.on('message', (worker, message: ToSupervisor) => this.#received(worker, message));
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * Starts one process after the other, so that a fault of the settings is reported once. Resolves once all of them
   * listen, with whether all of them are ready; or once it is stopped.
   * @throws StartFailure when one does not come so far; the others are ended then
   */
  async start(): Promise<boolean> {
    try {
      let isReady = true;
      for (const place of this.#places) {
        if (this.#isStopping) return false;
        isReady = (await this.#firstStart(place)) && isReady;
      }
      return isReady;
    } catch (error) {
      // Processes that already serve are stopping in order.
      if (this.#isStopping) return false;
      this.kill();
      throw error;
    }
  }

  /**
   * Has each process renew its secrets, and one after the other load its models anew; one that fails keeps the rest
   * from trying. There is one more reload for all requests during one, as in `ModelReload`.
   */
  reload(): void {
    for (const worker of this.#workers()) this.#order(worker, { kind: 'renew-secrets' });
    if (this.#isReloading) this.#isReloadWantedAgain = true;
    else void this.#reloadAll();
  }

  /** Lets every process stop in order; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const { timer } of this.#places) clearTimeout(timer);
    await Promise.all(
      this.#workers().map(async (worker) => {
        const ended = new Promise((resolve) => worker.once('exit', resolve));
        this.#order(worker, { kind: 'stop' });
        await ended;
      }),
    );
  }

  /** Ends every process at once. */
  kill(): void {
    this.#isStopping = true;
    for (const { timer } of this.#places) clearTimeout(timer);
    for (const worker of this.#workers()) worker.process.kill('SIGKILL');
  }

  #workers(): Worker[] {
    return this.#places.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
  }

  #firstStart(place: Place): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const worker = this.#fork(place);
      const onEnd = (code: number | null): void => reject(new StartFailure(code || 1));
      worker.once('exit', onEnd);
      worker.on('message', (message: ToSupervisor) => {
        if (message.kind !== 'listening') return;
        worker.off('exit', onEnd);
        this.#watch(place, worker);
        resolve(message.isReady);
      });
    });
  }

  #fork(place: Place): Worker {
    const worker = cluster.fork({
      PORT: String(this.#options.port),
      [PROCESS_INDEX]: String(place.index),
    });
    place.worker = worker;
    place.startedMs = performance.now();
    this.#unopened.set(worker, []);
    worker.once('exit', () => this.#unopened.delete(worker));
    if (this.#options.hangTimeoutMs > 0) this.#watchOver(worker);
    return worker;
  }

  #watchOver(worker: Worker): void {
    const heartbeat = new Heartbeat({
      limitMs: this.#options.hangTimeoutMs,
      ask: () => tell(worker, { kind: 'ask-alive' }),
      onSilence: () => this.#endHanging(worker),
    });
    this.#heartbeats.set(worker, heartbeat);
    worker.once('exit', () => {
      heartbeat.end();
      this.#heartbeats.delete(worker);
    });
  }

  /** Only this helps a process that is stopped or whose event loop is blocked: it handles no other signal. */
  #endHanging(worker: Worker): void {
    const pid = worker.process.pid as number;
    const state = processState(pid);
    if (this.#debugged.has(worker) || state?.isTraced) return;
    this.#hangs++;
    this.#options.log.error({ pid, state: state?.state }, 'a process does not respond: killing it');
    worker.process.kill('SIGKILL');
  }

  /**
   * The process hears messages from now on: missed ones come first. It has read which inputs to refuse, but not of a process
   * that has died since, nor inputs that the disk did not take.
   */
  #opened(worker: Worker): void {
    const orders = this.#unopened.get(worker) ?? [];
    this.#unopened.delete(worker);
    const sha256 = this.#options.deadlyInputs?.refused ?? [];
    if (sha256.length > 0) tell(worker, { kind: 'refuse', sha256 });
    for (const keyId of this.#inFlight.keyIds) {
      tell(worker, { kind: 'in-flight-elsewhere', keyId, inFlight: this.#inFlight.elsewhere(worker, keyId) });
    }
    for (const order of orders) tell(worker, order);
  }

  /** Also before the process hears it. */
  #order(worker: Worker, order: ToProcess): void {
    const orders = this.#unopened.get(worker);
    if (orders === undefined) tell(worker, order);
    else orders.push(order);
  }

  /** Processes that hear messages. */
  #hearing(): Worker[] {
    return this.#workers().filter((worker) => !this.#unopened.has(worker));
  }

  /** Fills the place again when its process ends. */
  #watch(place: Place, worker: Worker): void {
    worker.once('exit', (code: number | null, signal: string | null) => {
      place.worker = undefined;
      const { pid } = worker.process;
      this.#blame(pid as number);
      this.#clearUp(pid as number);
      this.#tellInFlight(this.#inFlight.remove(worker));
      if (this.#isStopping) return;
      const delayMs = place.backOff.delayMs(performance.now() - place.startedMs);
      this.#options.log.error({ pid, code, signal, delayMs }, 'a process ended: starting a new one');
      place.timer = setTimeout(() => {
        this.#restarts++;
        this.#watch(place, this.#fork(place));
      }, delayMs);
    });
  }

  #blame(pid: number): void {
    const { deadlyInputs, log } = this.#options;
    if (deadlyInputs === undefined) return;
    try {
      for (const input of deadlyInputs.collect(pid)) log.error(input, 'this input crashed a process');
    } catch (error) {
      // Notes that were read count, also if the disk does not take them.
      log.error({ err: error }, 'notes of an ended process could not be read or kept');
    }
    const sha256 = deadlyInputs.refused;
    for (const worker of this.#hearing()) tell(worker, { kind: 'refuse', sha256 });
  }

  #clearUp(pid: number): void {
    const { dataDir, log } = this.#options;
    removeIncomingOf(dataDir, pid).catch((error) => {
      log.error({ err: error }, 'uploads of an ended process could not be removed');
    });
  }

  async #reloadAll(): Promise<void> {
    this.#isReloading = true;
    do {
      this.#isReloadWantedAgain = false;
      await this.#reloadEach();
    } while (this.#isReloadWantedAgain);
    this.#isReloading = false;
  }

  async #reloadEach(): Promise<void> {
    for (const worker of this.#workers()) {
      if (this.#isStopping) return;
      if ((await this.#reloadOne(worker)) === 'loaded') continue;
      this.#options.log.error('the other processes also keep their models');
      return;
    }
  }

  /** A process that has ended has nothing to load: the one in its place finds the new models. */
  #reloadOne(worker: Worker): Promise<ReloadResult> {
    return new Promise((resolve) => {
      if (worker.isDead()) {
        resolve('loaded');
        return;
      }
      const settle = (result: ReloadResult): void => {
        this.#onReloaded = undefined;
        worker.off('exit', onEnd);
        resolve(result);
      };
      const onEnd = (): void => settle('loaded');
      worker.once('exit', onEnd);
      this.#onReloaded = (teller, result) => {
        if (teller === worker) settle(result);
      };
      this.#order(worker, { kind: 'reload' });
    });
  }

  #received(worker: Worker, message: ToSupervisor): void {
    switch (message.kind) {
      case 'opened':
        this.#heartbeats.get(worker)?.answered();
        this.#opened(worker);
        return;
      case 'alive':
        if (message.isDebugged) this.#debugged.add(worker);
        else this.#debugged.delete(worker);
        this.#heartbeats.get(worker)?.answered();
        return;
      case 'listening':
        this.#heartbeats.get(worker)?.serves();
        return;
      case 'reloaded':
        this.#onReloaded?.(worker, message.result);
        return;
      case 'told':
        this.#questions.answered(message.id, message.answer);
        return;
      case 'ask-metrics':
        void this.#tellMetrics(worker, message.id);
        return;
      case 'ask-history':
        void this.#askAll<unknown>({ of: 'history', span: message.span }).then((value) =>
          tell(worker, { kind: 'answer', id: message.id, value }),
        );
        return;
      case 'count-rate':
        void this.#options.rates
          .count({ id: message.keyId, rate: message.rate })
          ?.then((value) => tell(worker, { kind: 'answer', id: message.id, value }));
        return;
      case 'in-flight':
        this.#inFlight.set(worker, message.keyId, message.inFlight);
        this.#tellInFlight([message.keyId], worker);
    }
  }

  /** @param teller knows already */
  #tellInFlight(keyIds: readonly string[], teller?: Worker): void {
    for (const worker of this.#hearing()) {
      if (worker === teller) continue;
      for (const keyId of keyIds) {
        const inFlight = this.#inFlight.elsewhere(worker, keyId);
        tell(worker, { kind: 'in-flight-elsewhere', keyId, inFlight });
      }
    }
  }

  async #tellMetrics(worker: Worker, id: number): Promise<void> {
    let value = '';
    try {
      value = await this.#metricsText();
    } catch (error) {
      // Nobody else would catch it, and the server must not end because of its metrics.
      this.#options.log.error({ err: error }, 'the metrics of the processes could not be added up');
    }
    tell(worker, { kind: 'answer', id, value });
  }

  async #gatherMetrics(): Promise<string> {
    const told = await this.#askAll<readonly MetricObject[]>({ of: 'metrics' });
    const own = processMetrics({ restarts: this.#restarts, hangs: this.#hangs });
    return AggregatorRegistry.aggregate<PrometheusContentType>([...told, own] as MetricObject[][]).metrics();
  }

  #askAll<Answer>(question: Question): Promise<Answer[]> {
    return this.#questions.askAll(this.#hearing(), question);
  }
}

/** Without effect on a process that has just ended. */
function tell(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
