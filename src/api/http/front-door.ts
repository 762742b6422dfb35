// SPDX-License-Identifier: Apache-2.0
//
// This room speaks HTTP: connections, heads, bodies, answers and WebSockets. It knows only the interface
// of routes, and it alone uses uWebSockets.js.
import { errorBody } from '../../base/contract/error-body.js';
import { notFound } from '../../base/errors/not-found.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { EndedRequests } from '../../base/observe/ended-requests.js';
import { probes } from '../../base/observe/request-log.js';
import { CLIENT_GONE_STATUS } from '../../base/observe/request-record.js';
import { serverTiming } from '../../base/observe/timing.js';
import type { Tracing } from '../../base/tracing/tracing.js';
import { refusalOf } from '../../state/database/write-problem.js';
import { allows } from '../../state/keys/api-key.js';
import type { AuthenticatedKey, Authenticator } from '../../state/keys/authenticator.js';
import { addressBlock } from '../admission/address-block.js';
import type { ExpectedWait } from '../admission/expected-wait.js';
import type { KeyConcurrency } from '../admission/key-concurrency.js';
import type { MemoryBudget } from '../admission/memory-budget.js';
import { type PermitPools, poolFor } from '../admission/permit-pools.js';
import { type RateCounter, type RateState, rateLimitHeaders, rateRefusal } from '../admission/rate-limits.js';
import { ReceivingPace } from '../admission/receiving-pace.js';
import {
  type Headers,
  jsonReply,
  type Reply,
  type ReplyStream,
  type ReplyTexts,
  type Route,
} from '../routes/route.js';
import { noteParameters, warningsHeader } from '../upload/ignored-fields.js';
import type { AnswerLimits } from './answer-limits.js';
import type { ClientAddresses } from './client-address.js';
import type { Cors } from './cors.js';
import { deprecationHeaders } from './deprecation.js';
import { ClientGone, Exchange } from './exchange.js';
import { errorHeaders } from './heads.js';
import { RefusalFloods } from './refusal-floods.js';
import { readHead } from './request-head.js';
import { RouteTable } from './route-table.js';
import type { HttpRequest, HttpResponse, SocketContext } from './uws.js';

export type Phase = 'running' | 'grace' | 'draining';

export interface FrontDoorOptions {
  readonly keys: Authenticator;
  /** The id of the key that a ticket stands for. */
  readonly redeemTicket?: (ticket: string) => string | undefined;
  readonly permits: PermitPools;
  /** The queue in front of the threads. */
  readonly expectedWait: ExpectedWait;
  readonly rates: RateCounter;
  readonly concurrency: KeyConcurrency;
  readonly ended: EndedRequests;
  readonly addresses: ClientAddresses;
  readonly answers: AnswerLimits;
  /** Memory of bodies outside the arena. */
  readonly memory: MemoryBudget;
  readonly cors: Cors;
  /** Without it there are no traces. */
  readonly tracing?: Tracing | undefined;
  /** Time for a client to read one piece of an answer that is sent in pieces. */
  readonly sendTimeoutMs: number;
}

/** A refusal that also names the allowed methods. */
class MethodNotAllowed extends ServiceError {
  readonly allowed: string;

  constructor(method: string, allowed: string) {
    super('METHOD_NOT_ALLOWED', { method, allowed });
    this.allowed = allowed;
  }
}

/** Analyses that the threads did not finish: the client left, or they waited too long. */
const givenUp: ReadonlySet<number> = new Set([CLIENT_GONE_STATUS, 503]);

/** Leads every request through routing, authentication and admission to its route, answers it and records it once. */
export class FrontDoor {
  /** While the server stops, answers end their connection; once it drains, nothing new is admitted. */
  phase: Phase = 'running';
  readonly #options: FrontDoorOptions;
  #table = new RouteTable([]);
  #adminTable = new RouteTable([]);
  readonly #receiving = new Set<Exchange>();
  readonly #pace = new ReceivingPace();
  readonly #floods: RefusalFloods;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    this.#floods = new RefusalFloods({
      ...options,
      permits: options.permits.requests,
      onSum: (record) => options.ended.note(record, true),
    });
  }

  /** The routes of the admin address, which has them all. */
  get routes(): readonly Route[] {
    return this.#adminTable.routes;
  }

  /**
   * Serves these routes from now on. Requests in flight keep theirs.
   * @param adminRoutes the routes of the admin address
   */
  serve(routes: readonly Route[], adminRoutes: readonly Route[]): void {
    this.#floods.sumUp();
    this.#table = new RouteTable(routes);
    this.#adminTable = new RouteTable(adminRoutes);
  }

  /** Called for every request by uWebSockets.js, which wants an answer or an abort handler before this returns. */
  readonly handle = (res: HttpResponse, req: HttpRequest): void => this.#handle(res, req, false);

  /** The same for requests to the admin address. */
  readonly handleAdmin = (res: HttpResponse, req: HttpRequest): void => this.#handle(res, req, true);

  /** The same for requests that want a WebSocket. */
  readonly handleUpgrade = (res: HttpResponse, req: HttpRequest, context: SocketContext): void =>
    this.#handle(res, req, false, context);

  readonly handleAdminUpgrade = (res: HttpResponse, req: HttpRequest, context: SocketContext): void =>
    this.#handle(res, req, true, context);

  #handle(res: HttpResponse, req: HttpRequest, isAdmin: boolean, context?: SocketContext): void {
    const { addresses, answers, memory, cors } = this.#options;
    const head = readHead(req);
    if (!isAdmin && this.phase === 'running' && this.#floods.refuse(res, req, head)) return;
    const exchange = new Exchange(res, req, head, this.#receiving, addresses, answers, memory);
    exchange.isOperator = isAdmin;
    if (context !== undefined) exchange.offerSocket(req, context);
    exchange.sharedHeaders = [
      ['x-correlation-id', exchange.record.correlationId],
      ...this.#traced(exchange, head.traceparent),
      ...cors.headersFor(req, exchange.method),
    ];
    if (head.framingFault !== undefined) {
      this.#cut(exchange, new ServiceError('FRAMING_UNCLEAR', { problem: head.framingFault }));
      return;
    }
    try {
      const route = this.#findRoute(exchange);
      if (route === undefined) return;
      if (route.wantsHeaders) exchange.copyHeaders(req);
      if (route.tellsOperators) this.#admitOperator(exchange);
      if (route.scope === undefined) {
        this.#admitAndRun(exchange, route);
        return;
      }
      const { keys, rates } = this.#options;
      if (route.hasTicketInPath) exchange.ticket = exchange.path.slice(route.path.length);
      const known =
        exchange.ticket === '' ? keys.authenticate(exchange.apiKey) : this.#ticketHolder(exchange, route);
      const looking = known === undefined ? keys.lookUp(exchange.apiKey) : undefined;
      if (looking !== undefined) {
        void this.#enterLater(exchange, route, () => this.#lookedUp(looking, exchange, route));
        return;
      }
      const key = this.#identify(exchange, route, known);
      const counting = rates.count(key);
      if (counting === undefined) this.#enter(exchange, route, key);
      else void this.#enterLater(exchange, route, () => this.#withinRate(counting, exchange, key));
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  /** Begins the request's span. @returns the headers that tell the client of it */
  #traced({ record, path }: Exchange, parent: string): Headers {
    const { tracing } = this.#options;
    if (tracing === undefined || probes.has(path)) return [];
    record.trace = tracing.begin({ name: record.method, kind: 'server', parent });
    return [['traceresponse', record.trace.traceparent]];
  }

  #ticketHolder({ ticket }: Exchange, { isSocket }: Route): AuthenticatedKey | undefined {
    const keyId = isSocket ? this.#options.redeemTicket?.(ticket) : undefined;
    return keyId === undefined ? undefined : this.#options.keys.find(keyId);
  }

  #admitOperator(exchange: Exchange): void {
    const key = exchange.apiKey === '' ? undefined : this.#options.keys.authenticate(exchange.apiKey);
    if (key?.scopes.has('admin') !== true) return;
    exchange.isOperator = true;
    exchange.record.keyId = key.id;
    exchange.record.account = key.account;
  }

  /** Call it every few seconds: see `Exchange.keepReceiving`. */
  keepReceiving(): void {
    for (const exchange of this.#receiving) exchange.keepReceiving();
  }

  /** Call it every few seconds: see `ReceivingPace`. */
  cutSlowBodies(): void {
    this.#pace.look(this.#receiving);
  }

  /** Call it after the last request, before the log ends. */
  close(): void {
    this.#floods.sumUp();
  }

  /** Undefined if the request is already answered. */
  #findRoute(exchange: Exchange): Route | undefined {
    const table = exchange.isOperator ? this.#adminTable : this.#table;
    const found = table.find(exchange.path);
    if (found === undefined) throw notFound(exchange.path);
    const { path, target, methods } = found;
    exchange.path = target;
    exchange.record.route = path;
    const route = methods.get(exchange.method);
    exchange.route = route ?? methods.values().next().value;
    if (route !== undefined) {
      exchange.models = route.models;
      exchange.models?.enter();
      return route;
    }
    const allowed = [...methods.keys(), 'OPTIONS'].join(', ');
    if (exchange.method !== 'OPTIONS') {
      throw new MethodNotAllowed(exchange.method, allowed);
    }
    this.#answer(exchange, { status: 204, contentType: '', body: '' }, [['allow', allowed]]);
    return undefined;
  }

  #identify(exchange: Exchange, route: Route, key: AuthenticatedKey | undefined): AuthenticatedKey {
    if (key === undefined) {
      throw new ServiceError(route.version === 'v0' ? 'UNAUTHORIZED_LEGACY' : 'UNAUTHORIZED');
    }
    exchange.caller = key;
    exchange.record.keyId = key.id;
    exchange.record.account = key.account;
    return key;
  }

  /** Enters with a key that is not known, or not counted, yet. */
  async #enterLater(
    exchange: Exchange,
    route: Route,
    findKey: () => Promise<AuthenticatedKey>,
  ): Promise<void> {
    try {
      // Head and body may have come in one packet.
      exchange.holdBody();
      this.#enter(exchange, route, await findKey());
      exchange.dropHeldBody();
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  async #lookedUp(
    looking: Promise<AuthenticatedKey | undefined>,
    exchange: Exchange,
    route: Route,
  ): Promise<AuthenticatedKey> {
    // The database may take its time, and the client may be anybody: no more of the body until then.
    exchange.pause();
    const found = await looking.finally(() => exchange.resume());
    if (exchange.isOver) throw new ClientGone();
    const key = this.#identify(exchange, route, found);
    const counting = this.#options.rates.count(key);
    return counting === undefined ? key : this.#withinRate(counting, exchange, key);
  }

  async #withinRate(
    counting: Promise<RateState>,
    exchange: Exchange,
    key: AuthenticatedKey,
  ): Promise<AuthenticatedKey> {
    const rate = await counting;
    exchange.rate = rate;
    if (exchange.isOver) throw new ClientGone();
    if (!rate.isExceeded) return key;
    throw rateRefusal(rate);
  }

  #enter(exchange: Exchange, route: Route, key: AuthenticatedKey): void {
    const { scope } = route;
    if (scope !== undefined && !allows(key.scopes, scope)) throw new ServiceError('FORBIDDEN', { scope });
    // The meaning of a stream's query depends on its parameters.
    if (!route.isSocket) noteParameters(exchange, route.operation);
    this.#admitAndRun(exchange, route);
  }

  #admitAndRun(exchange: Exchange, route: Route): void {
    const isAdmitted = route.scope !== undefined || route.takesPermit;
    const refusal = isAdmitted ? this.#admit(exchange, route) : undefined;
    if (refusal === undefined) this.#run(exchange, route);
    else this.#refuse(exchange, refusal);
  }

  /** @returns the refusal for lack of room in the queue; others, which are rare, are thrown */
  #admit(exchange: Exchange, route: Route): ServiceError | undefined {
    const { caller } = exchange;
    const { expectedWait, permits } = this.#options;
    if (this.phase === 'draining') throw new ServiceError('STOPPING');
    // The key's own limit first, so that clients hear of it even while the whole server is full.
    if (caller !== undefined && !route.isWatch) {
      this.#options.concurrency.enter(caller);
      exchange.isInFlight = true;
    }
    try {
      exchange.holder = { key: caller?.id, address: addressBlock(exchange.clientAddress) };
      exchange.permit = poolFor(route, permits).acquire(exchange.holder);
      if (!route.takesTurn || caller === undefined) return undefined;
      const turn = expectedWait.enter(caller.id);
      if (turn instanceof ServiceError) {
        this.#giveBackPermit(exchange);
        this.#floods.note(exchange, route, turn);
        return turn;
      }
      exchange.turn = turn;
      return undefined;
    } catch (error) {
      this.#giveBackPermit(exchange);
      throw error;
    }
  }

  #giveBackPermit(exchange: Exchange): void {
    exchange.permit?.release();
    exchange.permit = undefined;
    this.#leaveKey(exchange);
  }

  #leaveKey(exchange: Exchange): void {
    if (exchange.caller === undefined || !exchange.isInFlight) return;
    exchange.isInFlight = false;
    this.#options.concurrency.leave(exchange.caller.id);
  }

  /** Gives back the request's resources, on the first call. */
  #leave(exchange: Exchange): void {
    exchange.models?.leave();
    exchange.models = undefined;
    exchange.giveBackMemory();
    const { permit } = exchange;
    if (permit === undefined) return;
    exchange.permit = undefined;
    exchange.turn?.end(!givenUp.has(exchange.record.status));
    permit.release();
    this.#leaveKey(exchange);
  }

  #run(exchange: Exchange, route: Route): void {
    const reply = route.handle(exchange);
    if (reply instanceof Promise) void this.#settle(exchange, reply);
    else this.#answer(exchange, reply);
  }

  async #settle(exchange: Exchange, pending: Promise<Reply>): Promise<void> {
    try {
      this.#answer(exchange, await pending);
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { record } = exchange;
    const failure = refusalOf(error);
    record.cause = failure.cause;
    if (error instanceof ClientGone || exchange.isOver) record.cause = undefined;
    else record.errorKey = failure.key;
    const allow = error instanceof MethodNotAllowed ? [['allow', error.allowed] as const] : [];
    const reply =
      exchange.route?.refusal?.(failure, record.correlationId, exchange.headers) ??
      jsonReply(failure.status, errorBody(failure, record.correlationId));
    this.#answer(exchange, reply, [...errorHeaders(failure), ...allow]);
  }

  /** The bytes after the request must not be read as another one. */
  #cut(exchange: Exchange, failure: ServiceError): void {
    const { record } = exchange;
    record.errorKey = failure.key;
    const reply = jsonReply(failure.status, errorBody(failure, record.correlationId));
    exchange.cut(reply, [...errorHeaders(failure), ...exchange.sharedHeaders]);
    this.#finish(exchange);
  }

  #answer(exchange: Exchange, reply: Reply, extraHeaders: Headers = []): void {
    const { record } = exchange;
    const headers = [...exchange.sharedHeaders];
    if (exchange.rate !== undefined) headers.push(...rateLimitHeaders(exchange.rate));
    headers.push(...extraHeaders, ...(reply.headers ?? []), ...deprecationHeaders(exchange.route));
    if (exchange.ignored.length > 0) headers.push(['x-warnings', warningsHeader(exchange.ignored)]);
    if (record.modelIds !== undefined) headers.push(['x-model-ids', record.modelIds.join(', ')]);
    const timing = serverTiming(record.stagesMs);
    if (timing !== '') headers.push(['server-timing', timing]);
    if (reply.socket !== undefined) {
      if (!exchange.upgrade(reply.socket)) reply.socket.closed();
      this.#leave(exchange);
      return;
    }
    if (reply.stream !== undefined) {
      void this.#stream(exchange, reply, reply.stream, headers);
      return;
    }
    if (reply.texts !== undefined) {
      void this.#sendTexts(exchange, reply, this.#untilKeyEnds(exchange, reply.texts), headers);
      return;
    }
    exchange.send(reply, headers, this.phase !== 'running');
    this.#finish(exchange);
  }

  async #stream(exchange: Exchange, reply: Reply, stream: ReplyStream, headers: Headers): Promise<void> {
    const { record } = exchange;
    try {
      await exchange.sendStream(reply, headers, this.#options.sendTimeoutMs, this.phase !== 'running');
      this.#finish(exchange);
    } catch (error) {
      if (exchange.isOver) {
        // The client notices the missing rest; the log has the reason.
        record.status = 500;
        record.cause = error;
        if (error instanceof ServiceError) record.errorKey = error.key;
        this.#finish(exchange);
      } else {
        this.#refuse(exchange, error);
      }
    } finally {
      await stream.close();
    }
  }

  async #sendTexts(exchange: Exchange, reply: Reply, texts: ReplyTexts, headers: Headers): Promise<void> {
    try {
      await exchange.sendTexts({ ...reply, texts }, headers, this.#options.sendTimeoutMs);
    } catch (error) {
      exchange.record.status = 500;
      exchange.record.cause = error;
    } finally {
      texts.close();
      this.#finish(exchange);
    }
  }

  /** An answer that goes on and on ends with its key. */
  #untilKeyEnds({ caller }: Exchange, texts: ReplyTexts): ReplyTexts {
    if (caller === undefined) return texts;
    const next: ReplyTexts['next'] = async () => {
      const text = await texts.next();
      return this.#options.keys.find(caller.id) && text;
    };
    return { next, close: () => texts.close() };
  }

  /** Records a request, once, when it is over. */
  #finish(exchange: Exchange): void {
    const { record } = exchange;
    this.#leave(exchange);
    record.totalMs = exchange.elapsedMs;
    record.clientAddress = exchange.clientAddress;
    this.#options.ended.note(record, exchange.route?.scope !== undefined);
  }
}
