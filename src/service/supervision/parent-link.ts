// SPDX-License-Identifier: Apache-2.0
import cluster from 'node:cluster';
import { url as debuggerUrl } from 'node:inspector';
import type { MetricObject } from 'prom-client';
import type { RateState } from '../../api/admission/rate-limits.js';
import { placeIn } from '../../base/config/process-place.js';
import type { Span, Stretch } from '../../console/health/slots.js';
import type { RateLimit } from '../../state/keys/api-key.js';
import type { Question, ReloadResult, ToProcess, ToSupervisor } from './messages.js';

/** The supervisor's orders to a process. */
export interface Orders {
  stop(): void;
  renewSecrets(): void;
  reload(): void;
  /** @param sha256 of inputs to refuse, in hexadecimal digits */
  refuse(sha256: readonly string[]): void;
  metrics(): Promise<readonly MetricObject[]>;
  /** The process's recent work, if remembered. */
  history(span: Span): Stretch | undefined;
}

/** The other end of the supervisor, in one of its processes. */
export class ParentLink {
  readonly #pending = new Map<number, (value: unknown) => void>();
  /** Requests in flight in the other processes, by key. */
  readonly inFlightElsewhere = new Map<string, number>();
  #lastId = 0;
  #refused: readonly string[] = [];
  #isRenewalWanted = false;
  #isReloadWanted = false;
  #orders: Orders | undefined;

  /** Undefined in a process without a supervisor. */
  static open(): ParentLink | undefined {
    return cluster.isWorker ? new ParentLink() : undefined;
  }

  private constructor() {
    process.on('message', (message: ToProcess) => this.#received(message));
    // A process that cannot start ends, although its supervisor could still tell it something.
    process.channel?.unref();
    send({ kind: 'opened' });
  }

  readonly place = placeIn(process.env);

  /** One process does the tasks that must be done once. */
  get isFirst(): boolean {
    return this.place?.index === 0;
  }

  /** From now on; orders that came before are given at once. */
  follow(orders: Orders): void {
    this.#orders = orders;
    if (this.#refused.length > 0) orders.refuse(this.#refused);
    if (this.#isRenewalWanted) orders.renewSecrets();
    if (this.#isReloadWanted) orders.reload();
  }

  listening(isReady: boolean): void {
    send({ kind: 'listening', isReady });
  }

  reloaded(result: ReloadResult): void {
    send({ kind: 'reloaded', result });
  }

  /** The metrics of all processes together, as Prometheus reads them. */
  metricsOfAll(): Promise<string> {
    return this.#ask((id) => ({ kind: 'ask-metrics', id }));
  }

  /** The recent work of each process, as far as they keep it. */
  historiesOfAll(span: Span): Promise<readonly Stretch[]> {
    return this.#ask((id) => ({ kind: 'ask-history', id, span }));
  }

  /** Counts one request of a key against its rate over all processes. */
  countRate(keyId: string, rate: RateLimit): Promise<RateState> {
    return this.#ask((id) => ({ kind: 'count-rate', id, keyId, rate }));
  }

  tellInFlight(keyId: string, inFlight: number): void {
    send({ kind: 'in-flight', keyId, inFlight });
  }

  #ask<Answer>(question: (id: number) => ToSupervisor): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#pending.set(id, (value) => resolve(value as Answer));
      send(question(id));
    });
  }

  #received(message: ToProcess): void {
    switch (message.kind) {
      case 'ask-alive':
        send({ kind: 'alive', isDebugged: debuggerUrl() !== undefined });
        return;
      case 'stop':
        // Too early to do it in order: nothing has begun.
        if (this.#orders === undefined) process.exit(0);
        this.#orders.stop();
        return;
      case 'renew-secrets':
        if (this.#orders === undefined) this.#isRenewalWanted = true;
        else this.#orders.renewSecrets();
        return;
      case 'reload':
        // Models that are being loaded may have been read before they were exchanged.
        if (this.#orders === undefined) this.#isReloadWanted = true;
        else this.#orders.reload();
        return;
      case 'refuse':
        this.#refused = message.sha256;
        this.#orders?.refuse(message.sha256);
        return;
      case 'tell':
        void this.#tell(message.id, message.question);
        return;
      case 'answer':
        this.#pending.get(message.id)?.(message.value);
        this.#pending.delete(message.id);
        return;
      case 'in-flight-elsewhere':
        if (message.inFlight === 0) this.inFlightElsewhere.delete(message.keyId);
        else this.inFlightElsewhere.set(message.keyId, message.inFlight);
    }
  }

  /** The supervisor leaves out a missing answer, which is no reason to end. */
  async #tell(id: number, question: Question): Promise<void> {
    const answer = await this.#answerTo(question).catch(() => undefined);
    send({ kind: 'told', id, answer });
  }

  async #answerTo(question: Question): Promise<unknown> {
    return question.of === 'metrics' ? this.#orders?.metrics() : this.#orders?.history(question.span);
  }
}

/** Without effect once the supervisor is gone: then the process also ends. */
function send(message: ToSupervisor): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
