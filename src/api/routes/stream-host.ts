// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { StreamFields } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import { once } from '../../base/once.js';
import type { RequestPermits } from '../admission/request-permits.js';
import type { Holder } from '../admission/shared-budget.js';
import type { Calls } from '../streams/call-log.js';
import type { ConnectionPlace, StreamHost } from '../streams/stream-connection.js';
import { ConnectionMemory } from '../streams/stream-memory.js';
import type { Tickets } from '../streams/tickets.js';
import type { FieldValidator } from './form-fields.js';
import { type OpenStreamParts, openStream } from './open-stream.js';
import { callerOf, type RouteRequest } from './route.js';
import { StreamRecord } from './stream-record.js';

/** Shared by streams, whatever the models. */
export interface SharedStreamParts extends Pick<OpenStreamParts, 'sessions' | 'permits' | 'memory'> {
  /** Of their connections, from the upgrade on: a stream may be without one, and one without a stream. */
  readonly connections: RequestPermits;
  readonly tickets: Tickets;
  readonly calls: Calls;
  /** Called once per stream, when it is over. */
  record(record: RequestRecord): void;
}

export interface StreamRouteParts extends SharedStreamParts, OpenStreamParts {
  readonly config: Config;
}

/**
 * The server's side of a connection, or of a call, with whose streams no other connection goes on. Keeps little of its request,
 * which would otherwise live as long.
 */
export function hostFor(
  request: RouteRequest,
  holder: Holder,
  parts: StreamRouteParts,
  validator: FieldValidator<StreamFields>,
  isResumable: boolean,
): StreamHost {
  const { isStrict, ignored } = request;
  const { correlationId } = request.record;
  const { sessions } = parts;
  const { keyId, account } = callerOf(request);
  const record = new StreamRecord(request, { keyId, account }, (ended) => parts.record(ended));
  const notes = { isStrict, ignored };
  const opener = { keyId, account, holder, notes, isResumable, onOver: record.ended };
  return {
    correlationId,
    ...notes,
    sessions,
    start: (parameters) => openStream(parts, validator, opener, parameters),
    resume: (sessionId, secret) => sessions.find({ session_id: sessionId, secret }, keyId),
    endedWithoutStream: (reason) => record.endedWithoutStream(reason),
  };
}

/**
 * Holds the models as long as a stream may begin with them.
 * @throws ServiceError OVERLOADED, CONCURRENCY_LIMITED
 */
export function placeFor(
  holder: Holder,
  { connections, memory, models }: Pick<StreamRouteParts, 'connections' | 'memory' | 'models'>,
): ConnectionPlace {
  const permit = connections.acquire(holder);
  try {
    const held = new ConnectionMemory(memory, holder);
    models.enter();
    const leave = once(() => {
      models.leave();
      permit.release();
    });
    return {
      memory: held,
      leave,
      release() {
        held.release();
        leave();
      },
    };
  } catch (error) {
    permit.release();
    throw error;
  }
}

/**
 * Browsers let pages of all origins open WebSockets. A page needs a ticket or a key anyway; this keeps foreign pages from using
 * one that they came by.
 */
export function refuseOthers({ wantsSocket, headers }: RouteRequest, allowed: readonly string[]): void {
  if (!wantsSocket) throw new ServiceError('UPGRADE_REQUIRED');
  const origin = headers.get('origin');
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return;
  const host = headers.get('host');
  if (host !== undefined && [`http://${host}`, `https://${host}`].includes(origin)) return;
  throw new ServiceError('ORIGIN_REFUSED', { origin: JSON.stringify(origin.slice(0, 100)) });
}
