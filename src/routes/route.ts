// SPDX-License-Identifier: Apache-2.0
import type { AuthenticatedKey } from '../admission/authenticator.js';
import type { Scope } from '../keys/api-key.js';
import type { RequestRecord } from '../observe/request-record.js';
import type { Operation } from '../openapi/operation.js';
import type { BodyStream } from '../upload/body-stream.js';

export type ApiVersion = 'v1' | 'v0';

export type Headers = readonly (readonly [name: string, value: string])[];

/** A request as a route sees it. */
export interface RouteRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly contentType: string;
  readonly body: BodyStream;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Whose key it is; undefined on operational routes. */
  readonly caller: AuthenticatedKey | undefined;
  /** Where the route notes what the log and the metrics should say. */
  readonly record: RequestRecord;
}

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Beside those that every answer has. */
  readonly headers?: Headers;
}

export interface Route {
  /** A HEAD request to a GET route is answered by the server. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The scope that the caller's key needs; undefined for operational routes, which take no key and no permit. */
  readonly scope?: Scope;
  /** Which version's rules hold for refused keys and deprecation; v1 where nothing is said. */
  readonly version?: ApiVersion;
  /** What `/openapi.json` says of it. */
  readonly operation: Operation;
  /**
   * Returns the answer or throws: ServiceError for what the client is to know, anything else is an internal error.
   * The answer is dropped when the client has gone.
   */
  handle(request: RouteRequest): Reply | Promise<Reply>;
}

export const jsonReply = (status: number, value: unknown): Reply => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
