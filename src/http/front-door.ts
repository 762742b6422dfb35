// SPDX-License-Identifier: Apache-2.0
import type { Authenticator } from '../admission/authenticator.js';
import type { RequestPermits } from '../admission/request-permits.js';
import { ServiceError } from '../errors/service-error.js';
import type { Scope } from '../keys/api-key.js';
import type { Logger } from '../observe/log.js';
import { logRequest } from '../observe/request-log.js';
import type { ServiceMetrics } from '../observe/service-metrics.js';
import { serverTiming } from '../observe/timing.js';
import { deprecationHeaders } from '../routes/deprecation.js';
import {
  type ApiVersion,
  type Headers,
  jsonReply,
  type Reply,
  type ReplyStream,
  type Route,
} from '../routes/route.js';
import { ClientGone, Exchange } from './exchange.js';
import type { HttpRequest, HttpResponse } from './uws.js';

export type Phase = 'running' | 'grace' | 'draining';

export interface FrontDoorOptions {
  readonly routes: readonly Route[];
  readonly keys: Authenticator;
  readonly permits: RequestPermits;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  /** How long a client may take for a piece of an answer that is sent in pieces. */
  readonly sendTimeoutMs: number;
}

/** A refusal that also has to say which methods there are. */
class MethodNotAllowed extends ServiceError {
  readonly allowed: string;

  constructor(method: string, allowed: string) {
    super('METHOD_NOT_ALLOWED', { method, allowed });
    this.allowed = allowed;
  }
}

/** Takes every request through routing, authentication and admission to its route, answers it, and records it once. */
export class FrontDoor {
  /** While the server stops, answers end their connection; once it drains, nothing new is admitted. */
  phase: Phase = 'running';
  readonly #options: FrontDoorOptions;
  readonly #routes = new Map<string, Map<string, Route>>();
  readonly #prefixes: string[] = [];
  readonly #receiving = new Set<Exchange>();

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    options.metrics.declareRoute('other');
    for (const route of options.routes) {
      const methods = this.#routes.get(route.path) ?? new Map<string, Route>();
      methods.set(route.method, route);
      if (route.method === 'GET') methods.set('HEAD', route);
      if (route.isPrefix && !this.#prefixes.includes(route.path)) this.#prefixes.push(route.path);
      this.#routes.set(route.path, methods);
      options.metrics.declareRoute(route.path);
    }
  }

  /** Called for every request by uWebSockets.js, which wants an answer or an abort handler before this returns. */
  readonly handle = (res: HttpResponse, req: HttpRequest): void => {
    const exchange = new Exchange(res, req, this.#receiving);
    let admitted = false;
    try {
      const route = this.#findRoute(exchange);
      if (route === undefined) return;
      if (route.wantsHeaders) exchange.copyHeaders(req);
      if (route.takesPermit) {
        this.#admit();
        admitted = true;
      }
      if (route.scope !== undefined) {
        this.#authenticate(exchange, route.scope, route.version ?? 'v1');
        this.#admit();
        admitted = true;
      }
      const reply = route.handle(exchange);
      if (reply instanceof Promise) void this.#settle(exchange, reply, admitted);
      else this.#answer(exchange, reply, admitted);
    } catch (error) {
      this.#refuse(exchange, error, admitted);
    }
  };

  /** To be called every few seconds: see `Exchange.keepReceiving`. */
  keepReceiving(): void {
    for (const exchange of this.#receiving) exchange.keepReceiving();
  }

  /** Undefined when the request is answered already. */
  #findRoute(exchange: Exchange): Route | undefined {
    const path = this.#routePath(exchange.path);
    const methods = this.#routes.get(path);
    if (methods === undefined) throw new ServiceError('NOT_FOUND', { path });
    exchange.record.route = path;
    const route = methods.get(exchange.method);
    exchange.route = route ?? methods.values().next().value;
    if (route !== undefined) return route;
    const allowed = [...methods.keys(), 'OPTIONS'].join(', ');
    if (exchange.method !== 'OPTIONS') {
      throw new MethodNotAllowed(exchange.method, allowed);
    }
    this.#answer(exchange, { status: 204, contentType: '', body: '' }, false, [['allow', allowed]]);
    return undefined;
  }

  /** The path of the route that takes requests to `path`, or the same where there is none. */
  #routePath(path: string): string {
    if (this.#routes.has(path)) return path;
    return this.#prefixes.find((prefix) => path.startsWith(prefix)) ?? path;
  }

  #authenticate(exchange: Exchange, scope: Scope, version: ApiVersion): void {
    const key = this.#options.keys.authenticate(exchange.apiKey);
    if (key === undefined) throw new ServiceError(version === 'v0' ? 'UNAUTHORIZED_LEGACY' : 'UNAUTHORIZED');
    exchange.caller = key;
    exchange.record.keyId = key.id;
    if (!key.scopes.has(scope)) throw new ServiceError('FORBIDDEN', { scope });
  }

  #admit(): void {
    if (this.phase === 'draining') throw new ServiceError('STOPPING');
    this.#options.permits.acquire();
  }

  async #settle(exchange: Exchange, pending: Promise<Reply>, admitted: boolean): Promise<void> {
    try {
      this.#answer(exchange, await pending, admitted);
    } catch (error) {
      this.#refuse(exchange, error, admitted);
    }
  }

  #refuse(exchange: Exchange, error: unknown, admitted: boolean): void {
    const { record } = exchange;
    let failure: ServiceError;
    if (error instanceof ServiceError) {
      failure = error;
      record.cause = error.cause;
    } else {
      failure = new ServiceError('INTERNAL');
      record.cause = error;
    }
    if (error instanceof ClientGone || exchange.isOver) record.cause = undefined;
    else record.errorKey = failure.key;
    const headers: [string, string][] = [];
    if (failure.retryAfterS !== undefined) headers.push(['retry-after', String(failure.retryAfterS)]);
    if (error instanceof MethodNotAllowed) headers.push(['allow', error.allowed]);
    const { code, message, status } = failure;
    const body = { error: code, message, status, correlation_id: record.correlationId };
    const reply = exchange.route?.refusal?.(failure, record.correlationId) ?? jsonReply(status, body);
    this.#answer(exchange, reply, admitted, headers);
  }

  #answer(exchange: Exchange, reply: Reply, admitted: boolean, extraHeaders: Headers = []): void {
    const { record } = exchange;
    const headers: (readonly [string, string])[] = [['x-correlation-id', record.correlationId]];
    headers.push(...extraHeaders, ...(reply.headers ?? []), ...deprecationHeaders(exchange.route));
    const timing = serverTiming(record.stagesMs);
    if (timing !== '') headers.push(['server-timing', timing]);
    if (reply.stream !== undefined) {
      void this.#stream(exchange, reply, reply.stream, headers, admitted);
      return;
    }
    exchange.send(reply, headers, this.phase !== 'running');
    this.#finish(exchange, admitted);
  }

  async #stream(
    exchange: Exchange,
    reply: Reply,
    stream: ReplyStream,
    headers: Headers,
    admitted: boolean,
  ): Promise<void> {
    const { record } = exchange;
    try {
      await exchange.sendStream(reply, headers, this.#options.sendTimeoutMs, this.phase !== 'running');
      this.#finish(exchange, admitted);
    } catch (error) {
      if (exchange.isOver) {
        // The client knows by the missing rest; the log should say why.
        record.status = 500;
        record.cause = error;
        if (error instanceof ServiceError) record.errorKey = error.key;
        this.#finish(exchange, admitted);
      } else {
        this.#refuse(exchange, error, admitted);
      }
    } finally {
      await stream.close();
    }
  }

  /** Records a request, once, when it is over. */
  #finish(exchange: Exchange, admitted: boolean): void {
    const { record } = exchange;
    if (admitted) this.#options.permits.release();
    record.totalMs = exchange.elapsedMs;
    this.#options.metrics.count(record);
    logRequest(this.#options.log, record);
  }
}
