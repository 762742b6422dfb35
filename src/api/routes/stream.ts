// SPDX-License-Identifier: Apache-2.0
import {
  callEndpoint,
  callEventsEndpoint,
  type StreamTicket,
  streamEndpoint,
  ticketEndpoint,
} from '../../base/contract/stream-endpoints.js';
import { type StreamFields, streamFieldSchemas, streamRequired } from '../../base/contract/stream-fields.js';
import { addressBlock } from '../admission/address-block.js';
import type { Holder } from '../admission/shared-budget.js';
import type { CallLog } from '../streams/call-log.js';
import { StreamConnection } from '../streams/stream-connection.js';
import { TICKET_LIFETIME_S, type Tickets } from '../streams/tickets.js';
import { noteParameters } from '../upload/ignored-fields.js';
import { eventStream } from './event-stream.js';
import { FieldValidator } from './form-fields.js';
import { queryValues } from './link-fields.js';
import { callerOf, idIn, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';
import { hostFor, placeFor, refuseOthers, type StreamRouteParts } from './stream-host.js';

/** `GET /v1/stream`, telephone calls, and tickets for both. */
export function streamRoutes(parts: StreamRouteParts): Route[] {
  const schemas = streamFieldSchemas(parts.analyser.status().detectors);
  const validator = new FieldValidator<StreamFields>({ schemas, required: streamRequired });
  const { models } = parts;
  return [
    {
      ...streamEndpoint,
      isSocket: true,
      models,
      wantsHeaders: true,
      handle(request) {
        refuseOthers(request, parts.config.corsOrigins);
        const values = queryValues(request.query, schemas);
        // Without `encoding`, all of them come in a message.
        const isInQuery = 'encoding' in values;
        noteParameters(request, isInQuery ? { query: { schemas, example: {} } } : {});
        const holder = holderOf(request);
        const host = hostFor(request, holder, parts, validator, true);
        const place = placeFor(holder, parts);
        const socket = new StreamConnection(host, place, isInQuery ? values : undefined);
        return { status: 101, contentType: '', body: '', socket };
      },
    },
    {
      ...callEndpoint,
      isSocket: true,
      models,
      isPrefix: true,
      hasTicketInPath: true,
      wantsHeaders: true,
      async handle(request) {
        refuseOthers(request, parts.config.corsOrigins);
        const { CallConnection } = await import('../streams/call-connection.js');
        const { account } = callerOf(request);
        const holder = holderOf(request);
        const host = {
          ...hostFor(request, holder, parts, validator, false),
          idleTimeoutS: parts.config.streamIdleTimeoutS,
          add: (ids: readonly string[], log: CallLog) => parts.calls.add(account, ids, log),
        };
        const socket = new CallConnection(host, placeFor(holder, parts));
        return { status: 101, contentType: '', body: '', socket };
      },
    },
    { ...callEventsEndpoint, isWatch: true, wantsHeaders: true, handle: (request) => follow(parts, request) },
    { ...ticketEndpoint, handle: (request) => ticketFor(parts.tickets, callerOf(request).keyId) },
  ];
}

const holderOf = (request: RouteRequest): Holder => ({
  key: callerOf(request).keyId,
  address: addressBlock(request.clientAddress),
});

/** @throws ServiceError CALL_UNKNOWN */
async function follow({ calls }: StreamRouteParts, request: RouteRequest): Promise<Reply> {
  const id = idIn(request.path, callEventsEndpoint.path);
  const log = calls.find(callerOf(request).account, decoded(id));
  const { CallEvents } = await import('./call-events.js');
  return eventStream(new CallEvents(log, log.after(request.headers.get('last-event-id') ?? '')));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function ticketFor(tickets: Tickets, keyId: string): Reply {
  return {
    ...jsonReply<StreamTicket>(200, { ticket: tickets.issue(keyId), expires_in_s: TICKET_LIFETIME_S }),
    headers: [['cache-control', 'no-store']],
  };
}
