// SPDX-License-Identifier: Apache-2.0
import type { Operation } from './operation.js';
import type { Role } from './roles.js';
import type { Scope } from './scopes.js';

export type ApiVersion = 'v1' | 'v0';

/** All that a client must know to call it; src/api/routes answers. */
export interface Endpoint {
  /** A HEAD request to a GET endpoint is answered by the server. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for a parameter that is not at its end. */
  readonly path: string;
  /** In the path, or the rest of a path that ends with a slash. */
  readonly parameter?: { readonly name: string; readonly description: string; readonly example: string };
  /** The scope required of the key; undefined for operational endpoints, which take no key and no permit. */
  readonly scope?: Scope;
  /** The least role required, on endpoints of the admin API; they have no scope. */
  readonly role?: Role;
  /** The version whose rules apply to refused keys and deprecation; v1 by default. */
  readonly version?: ApiVersion;
  /** Takes a permit although it has no scope, because its requests carry their own proof. */
  readonly takesPermit?: true;
  /** Its description in `/openapi.json`. */
  readonly operation: Operation;
}

/** An endpoint for users who are signed in, or keys with the scope `admin`. */
export interface AdminEndpoint extends Endpoint {
  readonly role: Role;
}

/** Settings of a server that its clients must know. */
export interface EndpointSettings {
  readonly maxPredictBytes: number;
  readonly maxPredictDurationS: number;
  readonly maxLargeFileBytes: number;
  readonly maxLargeFileDurationS: number;
  readonly maxVoiceidBytes: number;
  readonly maxVoiceidDurationS: number;
}
