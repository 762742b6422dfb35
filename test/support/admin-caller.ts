// SPDX-License-Identifier: Apache-2.0
//
// Calls handlers of the admin API as a given user, without a server.
import { RouteTable } from '../../src/api/http/route-table.js';
import type { Reply, Route, RouteRequest } from '../../src/api/routes/route.js';
import type { Role } from '../../src/base/contract/roles.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import type { Gatekeeper } from '../../src/console/routes/admin-route.js';
import type { Principal } from '../../src/console/routes/principal.js';

export const someone = (role: Role, account?: string): Principal => ({
  kind: 'user',
  id: `${role}-1`,
  name: role,
  role,
  account,
});

export const ADMIN = someone('admin');

export interface AdminAnswer {
  readonly status: number;
  /** Key of the error. */
  readonly key: string | undefined;
  readonly message: string;
  readonly reply: Reply | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members of what was answered
  readonly json: any;
}

export type AdminCaller = (
  who: Principal,
  method: string,
  path: string,
  body?: object,
) => Promise<AdminAnswer>;

export function adminCaller(routesOf: (guard: Gatekeeper) => readonly Route[]): AdminCaller {
  let principal = ADMIN;
  const table = new RouteTable(routesOf({ admit: () => principal, isStillIn: async () => true }));
  return async (who, method, target, body) => {
    const [path = '', query = ''] = target.split('?');
    const route = table.find(path)?.methods.get(method);
    if (route === undefined) throw new Error(`There is no ${method} ${path}.`);
    principal = who;
    try {
      const reply = await route.handle(requestOf(method, path, query, body));
      const json = reply.contentType.startsWith('application/json')
        ? JSON.parse(String(reply.body))
        : undefined;
      return { status: reply.status, key: undefined, message: '', reply, json };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { status, key, message } = error;
      return { status, key, message, reply: undefined, json: undefined };
    }
  };
}

function requestOf(method: string, path: string, query: string, body: object | undefined): RouteRequest {
  const { signal } = new AbortController();
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  return {
    method,
    path,
    query,
    contentType: 'application/json',
    isStrict: false,
    ignored: [],
    headers: new Map(),
    body: {
      declaredBytes: bytes.length,
      signal,
      onChunk: (listener) => listener(bytes, true),
      keep() {},
      pause() {},
      resume() {},
    },
    clientAddress: '127.0.0.1',
    signal,
    wantsSocket: false,
    caller: undefined,
    holdFor() {},
    holdBody() {},
    dropHeldBody() {},
    beginTurn() {},
    isOperator: true,
  } as Partial<RouteRequest> as RouteRequest;
}
