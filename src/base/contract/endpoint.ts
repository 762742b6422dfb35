// SPDX-License-Identifier: Apache-2.0
import type { Operation } from './operation.js';
import type { Scope } from './scopes.js';

export type ApiVersion = 'v1' | 'v0';

/** What a client has to know to ask; src/api/routes answers. */
export interface Endpoint {
  /** A HEAD request to a GET endpoint is answered by the server. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The scope that the caller's key needs; undefined for operational endpoints, which take no key and no permit. */
  readonly scope?: Scope;
  /** Which version's rules hold for refused keys and deprecation; v1 where nothing is said. */
  readonly version?: ApiVersion;
  /** Takes a permit although it has no scope, because each request proves itself in another way. */
  readonly takesPermit?: true;
  /** What `/openapi.json` says of it. */
  readonly operation: Operation;
}

/** Settings of a server that its clients have to know. */
export interface EndpointSettings {
  readonly maxPredictBytes: number;
  readonly maxPredictDurationS: number;
  readonly maxLargeFileBytes: number;
  readonly maxLargeFileDurationS: number;
  readonly maxVoiceidBytes: number;
  readonly maxVoiceidDurationS: number;
}
