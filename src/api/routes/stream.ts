// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import type { LiveAnalyser } from '../../analysis/analyser/live.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import type { Config } from '../../base/config/options.js';
import { type StreamTicket, streamEndpoint, ticketEndpoint } from '../../base/contract/stream-endpoints.js';
import { type StreamFields, streamFieldSchemas, streamRequired } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { CLIENT_GONE_STATUS, type RequestRecord } from '../../base/observe/request-record.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import { addressBlock } from '../admission/address-block.js';
import type { MemoryBudget } from '../admission/memory-budget.js';
import type { RequestPermits } from '../admission/request-permits.js';
import type { Holder } from '../admission/shared-budget.js';
import { type ConnectionPlace, StreamConnection, type StreamHost } from '../streams/stream-connection.js';
import { ConnectionMemory, MAX_AUDIO_MESSAGE_BYTES, StreamMemory } from '../streams/stream-memory.js';
import { type SessionFields, StreamSession } from '../streams/stream-session.js';
import {
  ClientAway,
  type OpenStream,
  RESUME_WITHIN_S,
  type StreamSessions,
} from '../streams/stream-sessions.js';
import { TICKET_LIFETIME_S, type Tickets } from '../streams/tickets.js';
import { noteFields, noteParameters } from '../upload/ignored-fields.js';
import { FieldValidator } from './form-fields.js';
import { callerOf } from './job-answers.js';
import { queryValues } from './link-fields.js';
import { jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

/** Room for 48 kHz in pieces of 20 ms. */
const WAITING_BYTES_PER_S = 128 * 1024;

/** Parts shared by streams, whatever the models. */
export interface StreamDesk {
  readonly sessions: StreamSessions;
  readonly permits: RequestPermits;
  /** Of their connections, from the upgrade on: a stream may be without one, and one without a stream. */
  readonly connections: RequestPermits;
  readonly memory: MemoryBudget;
  readonly tickets: Tickets;
  /** Called once per stream, when it is over. */
  record(record: RequestRecord): void;
}

export interface StreamRouteParts extends StreamDesk {
  readonly config: Config;
  readonly analyser: Analyser & LiveAnalyser;
  readonly models: NonNullable<Route['models']>;
  readonly points: OperatingPoints;
  readonly isStopping: () => boolean;
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
        const host = new Host(parts, validator, callerOf(request), request);
        const place = placeFor(host.holder, parts);
        const socket = new StreamConnection(host, place, isInQuery ? values : undefined);
        return { status: 101, contentType: '', body: '', socket };
      },
    },
    { ...ticketEndpoint, handle: (request) => ticketFor(parts.tickets, callerOf(request).keyId) },
  ];
}

/** @throws ServiceError OVERLOADED, CONCURRENCY_LIMITED */
function placeFor(holder: Holder, { connections, memory }: StreamDesk): ConnectionPlace {
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

/** The server, as one connection sees it. */
class Host implements StreamHost {
  readonly #parts: StreamRouteParts;
  readonly #validator: FieldValidator<StreamFields>;
  readonly #caller: Pick<AuthenticatedKey, 'id' | 'account'>;
  readonly #address: string;
  readonly #record: RequestRecord;
  readonly #notes: Pick<RouteRequest, 'isStrict' | 'ignored'>;
  readonly #beganMs = performance.now();

  constructor(
    parts: StreamRouteParts,
    validator: FieldValidator<StreamFields>,
    caller: { readonly keyId: string; readonly account: string },
    { clientAddress, record, isStrict, ignored }: RouteRequest,
  ) {
    this.#parts = parts;
    this.#validator = validator;
    this.#caller = { id: caller.keyId, account: caller.account };
    this.#address = clientAddress;
    this.#record = record;
    this.#notes = { isStrict, ignored };
  }

  get holder(): Holder {
    return { key: this.#caller.id, address: addressBlock(this.#address) };
  }

  get correlationId(): string {
    return this.#record.correlationId;
  }

  start(parameters: Record<string, unknown>): OpenStream {
    const { analyser, config, models, permits, memory, sessions, isStopping } = this.#parts;
    if (isStopping()) throw new ServiceError('STOPPING');
    noteFields(this.#notes, Object.keys(parameters), this.#validator.names);
    const fields = this.#resolve(this.#validator.fromValues(parameters));
    const permit = permits.acquire(this.holder);
    let held: StreamMemory | undefined;
    const release = (): void => {
      held?.release();
      permit.release();
    };
    const id = sessions.newId();
    const limits = {
      maxWaitingS: config.streamBufferS,
      maxWaitingBytes: config.streamBufferS * WAITING_BYTES_PER_S,
      maxDurationS: config.maxStreamDurationS,
    };
    let session: StreamSession;
    try {
      held = new StreamMemory(memory, this.holder);
      session = new StreamSession(analyser, fields, this.#caller.id, limits, held, (reason) => {
        sessions.remove(id);
        models.leave();
        this.#recordEnd(session, reason);
      });
    } catch (error) {
      release();
      throw error;
    }
    models.enter();
    return sessions.add(id, this.#caller.id, session, release);
  }

  resume(sessionId: string, secret: string): OpenStream {
    return this.#parts.sessions.find({ session_id: sessionId, secret }, this.#caller.id);
  }

  ready({ id, secret, session }: OpenStream) {
    const { fields, sampleRateHz, predictionId, modelId } = session;
    return {
      type: 'ready',
      session_id: id,
      secret,
      resume_within_s: RESUME_WITHIN_S,
      max_waiting_s: session.maxWaitingS,
      max_message_bytes: MAX_AUDIO_MESSAGE_BYTES,
      prediction_id: predictionId,
      model: fields.model,
      model_id: modelId,
      encoding: fields.encoding,
      sample_rate: sampleRateHz,
      threshold: fields.threshold,
      silence_threshold: fields.silence_threshold,
      warnings: this.#notes.ignored,
    } as const;
  }

  heard(id: string): void {
    this.#parts.sessions.heard(id);
  }

  connected(id: string): void {
    this.#parts.sessions.connected(id);
  }

  disconnected(id: string): void {
    this.#parts.sessions.disconnected(id);
  }

  endedWithoutStream(reason: ServiceError | undefined): void {
    this.#parts.record({ ...this.#common(), ...outcomeOf(reason ?? new ClientAway('STREAM_UNKNOWN')) });
  }

  /** With the threshold of a named operating point. */
  #resolve(fields: StreamFields): SessionFields {
    const { analyser, points } = this.#parts;
    const { threshold, model } = fields;
    if (typeof threshold === 'number') return { ...fields, threshold };
    const detector = detectorNamed(analyser.status(), model);
    return { ...fields, threshold: points.thresholdOf(threshold, detector, 'threshold') };
  }

  /** A stream counts as one request of its key to the route `stream`, with all of its audio. */
  #recordEnd(session: StreamSession, reason: ServiceError | undefined): void {
    const { receivedBytes, ...findings } = session.findings;
    this.#parts.record({
      ...this.#common(),
      ...outcomeOf(reason),
      ...findings,
      bodyBytes: receivedBytes,
      model: session.fields.model,
      modelIds: [session.modelId],
    });
  }

  #common() {
    return {
      correlationId: this.correlationId,
      method: 'STREAM',
      route: 'stream',
      clientAddress: this.#address,
      keyId: this.#caller.id,
      account: this.#caller.account,
      stagesMs: {},
      totalMs: performance.now() - this.#beganMs,
      ...(this.#record.trace && { trace: this.#record.trace }),
    };
  }
}

function outcomeOf(reason: ServiceError | undefined): Pick<RequestRecord, 'status' | 'errorKey' | 'cause'> {
  if (reason === undefined) return { status: 200 };
  if (reason instanceof ClientAway) return { status: CLIENT_GONE_STATUS };
  const { status, key, cause } = reason;
  return { status, errorKey: key, ...(cause !== undefined && { cause }) };
}
