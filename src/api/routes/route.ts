// SPDX-License-Identifier: Apache-2.0
//
// This room handles the client API: a file per group of endpoints, on the interface below. Paths, fields
// and answers come from src/base/contract.
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import type { PermitTraits } from '../admission/permit-pools.js';
import type { RateState } from '../admission/rate-limits.js';
import type { SocketHandler } from '../streams/socket.js';
import type { BodyStream } from '../upload/body-stream.js';
import type { Notes } from '../upload/ignored-fields.js';

export type Headers = readonly (readonly [name: string, value: string])[];

/** A request as a route sees it. */
export interface RouteRequest extends Notes {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly contentType: string;
  /** All headers, names in lower case, for routes with `wantsHeaders`; empty for the others. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: BodyStream;
  /** The address that the request came from: of the connection, or as trusted proxies report it. */
  readonly clientAddress: string;
  /** The connection is a trusted proxy's, whose headers about the client count. */
  readonly isFromTrustedProxy: boolean;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** A WebSocket may be the answer. */
  readonly wantsSocket: boolean;
  /** The request's key; undefined on operational routes. */
  readonly caller: AuthenticatedKey | undefined;
  /** The state of the key's rate limit, for the answer; set by routes that look for the key themselves. */
  rate: RateState | undefined;
  /** Counts the request toward an account that is known only now. @throws ServiceError OVERLOADED */
  holdFor(account: string, file?: string): void;
  /** Keeps the body's bytes for a listener that comes later: call it before awaiting. */
  holdBody(): void;
  /** Without a listener: discards the kept bytes. */
  dropHeldBody(): void;
  /** Call it when the input has arrived, in routes that take turns. @throws ServiceError OVERLOADED */
  beginTurn(): void;
  /** Comes to the admin address, or with a key with the scope `admin`; known on routes with `tellsOperators`. */
  readonly isOperator: boolean;
  /** The route's notes for the log and the metrics. */
  readonly record: RequestRecord;
}

/** A body that is read while it is sent. */
export interface ReplyStream {
  readonly bytes: number;
  /** The next piece, not empty before all `bytes` were read. The memory may be used again at the next call. */
  read(): Promise<Uint8Array>;
  /** Called once, also when the client left. */
  close(): Promise<void>;
}

/** A body of unknown length: texts that are sent as they come. */
export interface ReplyTexts {
  /** The next one, or undefined at the end. Called when the client has taken the one before. */
  next(): Promise<string | undefined>;
  /** Called once, also when the client left, and makes a pending `next` end. */
  close(): void;
}

export interface Reply {
  readonly status: number;
  /** For log, metrics and traces: of a refusal that leads a browser to a page about it. */
  readonly recordedStatus?: number;
  readonly contentType: string;
  /** Bytes if all its readers share them. */
  readonly body: string | Uint8Array;
  /** In addition to the headers of every answer. */
  readonly headers?: Headers;
  /** Instead of `body`, which is empty then. */
  readonly stream?: ReplyStream;
  /** Instead of `body`, which is empty then. */
  readonly texts?: ReplyTexts;
  /** Instead of all else, with the status 101: the connection becomes a WebSocket, whose handler records its outcome. */
  readonly socket?: SocketHandler;
}

/**
 * An endpoint and its handler. Endpoints that are not in src/service/endpoints.ts, such as pages and targets of links,
 * are called by no program of a client by a name, and are not in `/openapi.json`.
 */
export interface Route extends Endpoint, PermitTraits {
  /** Takes all paths that start with `path`, which ends with a slash. */
  readonly isPrefix?: true;
  /** For operators only: on the admin address, if one is set. */
  readonly isForOperators?: true;
  /** Gets the request's headers. */
  readonly wantsHeaders?: true;
  /** Also takes tickets instead of keys, and WebSocket's ways to present a key. */
  readonly isSocket?: true;
  /** The rest of the path is a ticket: telephony providers send neither headers nor queries. */
  readonly hasTicketInPath?: true;
  /** Says more to operators than to strangers. */
  readonly tellsOperators?: true;
  /** Needs the threads for about as long as most requests do, and waits for them in one queue with those. */
  readonly takesTurn?: true;
  /** Models that must not be closed while a request to the route goes on. */
  readonly models?: { enter(): void; leave(): void };
  /**
   * Returns the answer or throws: ServiceError for faults that the client should know, anything else is an internal error. The
   * answer is dropped when the client has gone.
   */
  handle(request: RouteRequest): Reply | Promise<Reply>;
  /** The answer to a refused request if it is not the usual JSON. */
  refusal?(
    failure: ServiceError,
    correlationId: string,
    headers: ReadonlyMap<string, string>,
  ): Reply | undefined;
}

/** The part of a path that stands for the parameter in its route's. */
export function idIn(path: string, template: string): string {
  const [start = '', end = ''] = template.split(/\{\w+\}/);
  return path.slice(start.length, -end.length);
}

/** The owner of a request's key. */
export interface Caller {
  readonly account: string;
  readonly keyId: string;
}

export function callerOf({ caller, path }: Pick<RouteRequest, 'caller' | 'path'>): Caller {
  if (caller === undefined) throw new Error(`A request without a key reached ${path}. This is a bug.`);
  return { account: caller.account, keyId: caller.id };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export const jsonReply = <Body>(status: number, value: Body): Reply => ({
  status,
  contentType: JSON_TYPE,
  body: JSON.stringify(value),
});
