// SPDX-License-Identifier: Apache-2.0
import type { Reply, ReplyTexts, Route, RouteRequest } from '../../api/routes/route.js';
import { noteParameters } from '../../api/upload/ignored-fields.js';
import type { AdminEndpoint, Endpoint } from '../../base/contract/endpoint.js';
import type { AdminGuard } from './admin-guard.js';
import type { Principal } from './principal.js';

export type Gatekeeper = Pick<AdminGuard, 'admit' | 'isStillIn'>;

/** Reads the request's body, if it does, before it first awaits. */
export type AdminHandler = (principal: Principal, request: RouteRequest) => Reply | Promise<Reply>;

/**
 * A route of the admin API: for operators, and only for those with the endpoint's role. It is not admitted by the front door,
 * which knows keys only, but here. A path with a slash at its end takes the rest as its parameter.
 */
export const adminRoute = (
  guard: Gatekeeper,
  endpoint: AdminEndpoint,
  handle: AdminHandler,
  traits: Pick<Route, 'isWatch'> = {},
): Route => ({
  ...routeOf(endpoint, (request) => enter(guard, endpoint, handle, request)),
  ...traits,
  isAdmin: true,
});

/** A route open to everybody: for sign-ins. */
export const openAdminRoute = (endpoint: Endpoint, handle: Route['handle']): Route => ({
  ...routeOf(endpoint, handle),
  isSignIn: true,
});

const routeOf = (endpoint: Endpoint, handle: Route['handle']): Route => ({
  ...endpoint,
  ...(endpoint.path.endsWith('/') && { isPrefix: true }),
  isForOperators: true,
  takesPermit: true,
  wantsHeaders: true,
  handle: async (request) => withoutStore(await handle(request)),
});

async function enter(
  guard: Gatekeeper,
  endpoint: AdminEndpoint,
  handle: AdminHandler,
  request: RouteRequest,
): Promise<Reply> {
  const admitted = guard.admit(endpoint, request);
  const answer = (principal: Principal): ReturnType<AdminHandler> => {
    noteParameters(request, endpoint.operation);
    return handle(principal, request);
  };
  if (!(admitted instanceof Promise)) return guarded(guard, admitted, await answer(admitted));
  // Bytes of the body that come until then are kept, and no more are read.
  request.holdBody();
  request.body.pause();
  const principal = await admitted.finally(() => request.body.resume());
  const reply = answer(principal);
  request.dropHeldBody();
  return guarded(guard, principal, await reply);
}

/** An answer that goes on and on ends with the session, or the key. */
function guarded(guard: Gatekeeper, principal: Principal, reply: Reply): Reply {
  const { texts } = reply;
  if (texts === undefined) return reply;
  const next: ReplyTexts['next'] = async () => {
    const text = await texts.next();
    return (await guard.isStillIn(principal)) ? text : undefined;
  };
  return { ...reply, texts: { next, close: () => texts.close() } };
}

const noStore = ['cache-control', 'no-store'] as const;

const withoutStore = ({ headers = [], ...reply }: Reply): Reply => ({
  ...reply,
  headers: headers.some(([name]) => name === noStore[0]) ? headers : [...headers, noStore],
});
