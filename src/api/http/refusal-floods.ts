// SPDX-License-Identifier: Apache-2.0
import { errorBody } from '../../base/contract/error-body.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import type { ExpectedWait } from '../admission/expected-wait.js';
import type { KeyConcurrency } from '../admission/key-concurrency.js';
import type { RequestPermits } from '../admission/request-permits.js';
import { nobody } from '../admission/shared-budget.js';
import { type Headers, JSON_TYPE, type Route } from '../routes/route.js';
import type { AnswerLimits } from './answer-limits.js';
import type { Cors } from './cors.js';
import { deprecationHeaders } from './deprecation.js';
import type { Exchange } from './exchange.js';
import { errorHeaders, writeHead } from './heads.js';
import { NEAR_END_BYTES } from './incoming-body.js';
import { PendingAnswer } from './pending-answer.js';
import { correlationIdOf, type RequestHead } from './request-head.js';
import type { HttpRequest, HttpResponse } from './uws.js';

/** Refusals per key and second that are handled normally. */
const USUAL_REFUSALS = 10;
const PERIOD_MS = 1000;

export interface RefusalFloodOptions {
  readonly permits: RequestPermits;
  readonly concurrency: KeyConcurrency;
  readonly expectedWait: ExpectedWait;
  readonly answers: AnswerLimits;
  readonly cors: Cors;
  /** Called once per second for each key that sent too much, with all of its refusals since. */
  readonly onSum: (record: RequestRecord) => void;
}

/** The requests of one key to one path in this second. */
interface Flood {
  readonly key: AuthenticatedKey;
  readonly route: Route;
  usual: number;
  refused: number;
  totalMs: number;
  answer: PreparedAnswer;
}

/** Consecutive refusals of a flood are alike, except for the correlation id. */
interface PreparedAnswer {
  readonly failure: ServiceError;
  readonly headers: Headers;
  /** The correlation id stands between them. */
  readonly bodyParts: readonly string[];
}

/**
 * The short way for refusals, which keeps the main thread free for accepted requests. If the queue refuses more than ten
 * requests of a key within a second, further ones are refused before anything is set up for them, until the second ends.
 * uWebSockets.js discards their bodies: handing chunks over would cost more than the refusal. Clients see no difference, except
 * that the answer does not wait for the body. Requests that need care with their connection take the usual way.
 */
export class RefusalFloods {
  readonly #options: RefusalFloodOptions;
  readonly #ofPath = new Map<string, Map<string, Flood>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusalFloodOptions) {
    this.#options = options;
  }

  /** Counts a request that the queue has refused in the usual way. Its key is valid for the rest of the second. */
  note({ caller: key, path, apiKey, rate }: Exchange, route: Route, failure: ServiceError): void {
    // Requests are counted against a rate one by one.
    if (key === undefined || rate !== undefined || route.refusal !== undefined) return;
    this.#timer ??= setTimeout(() => this.sumUp(), PERIOD_MS).unref();
    const ofKey = this.#ofPath.get(path) ?? new Map<string, Flood>();
    this.#ofPath.set(path, ofKey);
    const flood = ofKey.get(apiKey);
    if (flood !== undefined) flood.usual++;
    else ofKey.set(apiKey, { key, route, usual: 1, refused: 0, totalMs: 0, answer: prepare(failure, route) });
  }

  /** Answers the request if it is one of a flood, and there is no room for it. Only while uWebSockets.js' handler runs. */
  refuse(res: HttpResponse, req: HttpRequest, head: RequestHead): boolean {
    const flood = this.#ofPath.get(req.getUrl())?.get(head.apiKey);
    if (flood === undefined || flood.usual < USUAL_REFUSALS || !isPlain(head)) return false;
    const startedMs = performance.now();
    const { key, route } = flood;
    const { permits, concurrency, expectedWait, answers, cors } = this.#options;
    if (req.getCaseSensitiveMethod() !== route.method) return false;
    // Other limits have refusals of their own.
    if (!concurrency.hasRoom(key) || !permits.hasRoom({ key: key.id }) || !answers.takeTurn()) return false;
    const failure = expectedWait.refuse(key.id);
    if (failure === undefined) return false;
    if (flood.answer.failure !== failure) flood.answer = prepare(failure, route);
    send(res, flood.answer, correlationIdOf(head), cors.headersFor(req, route.method), answers);
    flood.refused++;
    flood.totalMs += performance.now() - startedMs;
    return true;
  }

  /** Ends the second; call it when routes change and when the server stops. */
  sumUp(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const floods = [...this.#ofPath.values()].flatMap((ofKey) => [...ofKey.values()]);
    this.#ofPath.clear();
    for (const { key, route, refused, totalMs, answer } of floods) {
      if (refused === 0) continue;
      this.#options.onSum({
        correlationId: '',
        method: route.method,
        route: route.path,
        status: answer.failure.status,
        errorKey: answer.failure.key,
        keyId: key.id,
        account: key.account,
        stagesMs: {},
        totalMs: totalMs / refused,
        times: refused,
      });
    }
  }
}

/** The connection can serve the next request, and little of the body can be missing. */
function isPlain({ framingFault, declaredBytes, connection, expect }: RequestHead): boolean {
  const staysOpen = connection === '' || connection.toLowerCase() === 'keep-alive';
  return (
    framingFault === undefined && staysOpen && expect === '' && (declaredBytes ?? Infinity) <= NEAR_END_BYTES
  );
}

const ID_MARK = '{correlation id}';

const prepare = (failure: ServiceError, route: Route): PreparedAnswer => ({
  failure,
  headers: [...errorHeaders(failure), ...deprecationHeaders(route)],
  bodyParts: JSON.stringify(errorBody(failure, ID_MARK)).split(ID_MARK),
});

function send(
  res: HttpResponse,
  { failure, headers, bodyParts }: PreparedAnswer,
  correlationId: string,
  ownHeaders: Headers,
  limits: AnswerLimits,
): void {
  const body = bodyParts.join(correlationId);
  const reply = { status: failure.status, contentType: JSON_TYPE, body };
  const all = [['x-correlation-id', correlationId] as const, ...ownHeaders, ...headers];
  const begin = (): void => writeHead(res, reply, all, false);
  const pending = PendingAnswer.offer(res, body, Buffer.byteLength(body), limits, nobody, begin);
  if (pending !== undefined) res.onAborted(() => pending.letGo());
}
