// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { type StreamTicket, streamEndpoint, ticketEndpoint } from '../../base/contract/stream-endpoints.js';
import { type StreamFields, streamFieldSchemas, streamRequired } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import { addressBlock } from '../admission/address-block.js';
import type { RequestPermits } from '../admission/request-permits.js';
import type { Holder } from '../admission/shared-budget.js';
import { type ConnectionPlace, StreamConnection, type StreamHost } from '../streams/stream-connection.js';
import { ConnectionMemory } from '../streams/stream-memory.js';
import { TICKET_LIFETIME_S, type Tickets } from '../streams/tickets.js';
import { noteParameters } from '../upload/ignored-fields.js';
import { FieldValidator } from './form-fields.js';
import { queryValues } from './link-fields.js';
import { type OpenStreamParts, openStream } from './open-stream.js';
import { type Caller, callerOf, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';
import { StreamRecord } from './stream-record.js';

/** Shared by streams, whatever the models. */
export interface SharedStreamParts extends Pick<OpenStreamParts, 'sessions' | 'permits' | 'memory'> {
  /** Of their connections, from the upgrade on: a stream may be without one, and one without a stream. */
  readonly connections: RequestPermits;
  readonly tickets: Tickets;
  /** Called once per stream, when it is over. */
  record(record: RequestRecord): void;
}

export interface StreamRouteParts extends SharedStreamParts, OpenStreamParts {
  readonly config: Config;
}

/** `GET /v1/stream`, and tickets for it. */
export function streamRoutes(parts: StreamRouteParts): Route[] {
  const schemas = streamFieldSchemas(parts.analyser.status().detectors);
  const validator = new FieldValidator<StreamFields>({ schemas, required: streamRequired });
  return [
    {
      ...streamEndpoint,
      isSocket: true,
      wantsHeaders: true,
      handle(request) {
        if (!request.wantsSocket) throw new ServiceError('UPGRADE_REQUIRED');
        refuseForeignPages(request.headers, parts.config.corsOrigins);
        const values = queryValues(request.query, schemas);
        // Without `encoding`, all of them come in a message.
        const isInQuery = 'encoding' in values;
        noteParameters(request, isInQuery ? { query: { schemas, example: {} } } : {});
        const caller = callerOf(request);
        const holder = { key: caller.keyId, address: addressBlock(request.clientAddress) };
        const host = hostFor(request, caller, holder, parts, validator);
        const place = placeFor(holder, parts);
        const socket = new StreamConnection(host, place, isInQuery ? values : undefined);
        return { status: 101, contentType: '', body: '', socket };
      },
    },
    { ...ticketEndpoint, handle: (request) => ticketFor(parts.tickets, callerOf(request).keyId) },
  ];
}

/** The server's side of a connection. Keeps little of its request, which would otherwise live as long. */
function hostFor(
  request: RouteRequest,
  { keyId, account }: Caller,
  holder: Holder,
  parts: StreamRouteParts,
  validator: FieldValidator<StreamFields>,
): StreamHost {
  const { isStrict, ignored } = request;
  const { correlationId } = request.record;
  const { sessions } = parts;
  const record = new StreamRecord(request, { keyId, account }, (ended) => parts.record(ended));
  const opener = { keyId, holder, notes: { isStrict, ignored }, onOver: record.ended };
  return {
    correlationId,
    ignored,
    sessions,
    start: (parameters) => openStream(parts, validator, opener, parameters),
    resume: (sessionId, secret) => sessions.find({ session_id: sessionId, secret }, keyId),
    endedWithoutStream: (reason) => record.endedWithoutStream(reason),
  };
}

/** @throws ServiceError OVERLOADED, CONCURRENCY_LIMITED */
function placeFor(holder: Holder, { connections, memory }: SharedStreamParts): ConnectionPlace {
  const permit = connections.acquire(holder);
  try {
    const held = new ConnectionMemory(memory, holder);
    return {
      memory: held,
      release() {
        held.release();
        permit.release();
      },
    };
  } catch (error) {
    permit.release();
    throw error;
  }
}

function ticketFor(tickets: Tickets, keyId: string): Reply {
  return {
    ...jsonReply<StreamTicket>(200, { ticket: tickets.issue(keyId), expires_in_s: TICKET_LIFETIME_S }),
    headers: [['cache-control', 'no-store']],
  };
}

/**
 * Browsers let pages of all origins open WebSockets. A page needs a ticket or a key anyway; this keeps foreign pages from using
 * one that they came by.
 */
function refuseForeignPages(headers: ReadonlyMap<string, string>, allowed: readonly string[]): void {
  const origin = headers.get('origin');
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return;
  const host = headers.get('host');
  if (host !== undefined && [`http://${host}`, `https://${host}`].includes(origin)) return;
  throw new ServiceError('ORIGIN_REFUSED', { origin: JSON.stringify(origin.slice(0, 100)) });
}
