// SPDX-License-Identifier: Apache-2.0
import type { ServerMessage, StreamErrorMessage } from '../../base/contract/stream.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Notes } from '../upload/ignored-fields.js';
import { clientMessage, invalid } from './client-message.js';
import type { Socket, SocketHandler } from './socket.js';
import { type ConnectionMemory, FREE_UNREAD_BYTES, MAX_AUDIO_MESSAGE_BYTES } from './stream-memory.js';
import type { SessionListener } from './stream-session.js';
import {
  type EndedStream,
  type OpenStream,
  RESUME_WITHIN_S,
  type StreamSessions,
} from './stream-sessions.js';

/** Of a JSON message. */
export const MAX_TEXT_BYTES = 16 * 1024;
/** Of messages that the client has not taken. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Audio follows the end of its connection by this code plus the status of its error. */
const CLOSE_CODE_BASE = 4000;
const NORMAL_CLOSE = 1000;
export const HELLO_TIMEOUT_S = 10;

/** The server, as a connection sees it. */
export interface StreamHost extends Notes {
  readonly correlationId: string;
  readonly sessions: Pick<StreamSessions, 'heard' | 'connected' | 'disconnected'>;
  /** @throws ServiceError */
  start(parameters: Record<string, unknown>): OpenStream;
  /** @throws ServiceError */
  resume(sessionId: string, secret: string): OpenStream | EndedStream;
  /** The connection ended before it had a stream. */
  endedWithoutStream(reason: ServiceError | undefined): void;
}

/** A connection's resources, with or without a stream. */
export interface ConnectionPlace {
  readonly memory: ConnectionMemory;
  /** Lets another connection in; the memory stays. */
  leave(): void;
  release(): void;
}

/** One WebSocket: first parameters or a resumption, then audio. */
export class StreamConnection implements SocketHandler, SessionListener {
  readonly #host: StreamHost;
  readonly #place: ConnectionPlace;
  /** Parameters of the query; absent if they come in a message. */
  readonly #parameters: Record<string, unknown> | undefined;
  #socket: Socket | undefined;
  #stream: OpenStream | undefined;
  #helloTimer: NodeJS.Timeout | undefined;
  /** Its stream has its own record. */
  #isRecorded = false;
  #isOver = false;

  /** @param place given back at the end */
  constructor(host: StreamHost, place: ConnectionPlace, parameters: Record<string, unknown> | undefined) {
    this.#host = host;
    this.#place = place;
    this.#parameters = parameters;
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    const parameters = this.#parameters;
    if (parameters !== undefined) this.#guarded(() => this.#start(parameters));
    else
      this.#helloTimer = setTimeout(
        () => this.over(new ServiceError('STREAM_IDLE', { seconds: HELLO_TIMEOUT_S })),
        HELLO_TIMEOUT_S * 1000,
      );
  }

  message(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#guarded(() => {
      if (isBinary) this.#audio(bytes);
      else this.#said(bytes);
    });
  }

  closed(): void {
    clearTimeout(this.#helloTimer);
    this.#socket = undefined;
    this.#place.release();
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stream === undefined) {
      this.#host.endedWithoutStream(undefined);
      return;
    }
    this.#stream.session.leave(this);
    this.#host.sessions.disconnected(this.#stream.id);
  }

  pinged(): void {
    if (!this.#isOver) this.#refuseUnread();
  }

  send(message: ServerMessage): void {
    if (this.#isOver || this.#socket === undefined) return;
    this.#socket.send(JSON.stringify(message));
    if (!isLast(message)) this.#refuseUnread();
  }

  #refuseUnread(): void {
    if (!this.#mayKeep(this.#socket?.unreadBytes ?? 0)) this.#fail(new ServiceError('STREAM_NOT_READ'));
  }

  #mayKeep(unreadBytes: number): boolean {
    if (unreadBytes > MAX_UNREAD_BYTES) return false;
    try {
      this.#place.memory.keepUnread(unreadBytes);
      return true;
    } catch {
      return false;
    }
  }

  over(reason: ServiceError | undefined): void {
    if (this.#isOver) return;
    const socket = this.#socket;
    if (reason !== undefined) this.send(errorMessage(reason, this.#host.correlationId));
    this.#isOver = true;
    clearTimeout(this.#helloTimer);
    if (this.#stream === undefined && !this.#isRecorded) this.#host.endedWithoutStream(reason);
    endSocket(socket, reason);
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(asServiceError(error));
    }
  }

  /** Also ends the stream, if there is one: a client's fault would only come again. */
  #fail(reason: ServiceError): void {
    if (this.#stream === undefined) this.over(reason);
    else this.#stream.session.fail(reason);
    // The session may be another connection's by now.
    this.over(reason);
  }

  #start(parameters: Record<string, unknown>): void {
    clearTimeout(this.#helloTimer);
    this.#stream = this.#host.start(parameters);
    this.#stream.session.listen(this);
    this.send(readyMessage(this.#stream, this.#host.ignored));
  }

  #resume(sessionId: string, secret: string, events: number): void {
    clearTimeout(this.#helloTimer);
    const stream = this.#host.resume(sessionId, secret);
    if ('ending' in stream) {
      this.#repeatEnd(stream, events);
      return;
    }
    this.#stream = stream;
    const { session } = stream;
    session.listen(this);
    this.#host.sessions.connected(stream.id);
    this.send({ type: 'resumed', session_id: stream.id, ...session.received });
    session.repeat(events);
  }

  #repeatEnd({ id, ending: { received, events, result, reason } }: EndedStream, eventsSeen: number): void {
    this.send({ type: 'resumed', session_id: id, ...received });
    for (const message of events.after(eventsSeen)) this.send(message);
    if (result !== undefined) this.send(result);
    this.#isRecorded = true;
    this.over(reason);
  }

  #audio(bytes: Uint8Array): void {
    if (this.#stream === undefined) throw invalid('audio before start');
    this.#host.sessions.heard(this.#stream.id);
    this.#stream.session.audio(bytes);
  }

  #said(text: Uint8Array): void {
    if (text.length > MAX_TEXT_BYTES)
      throw new ServiceError('STREAM_MESSAGE_TOO_LARGE', { allowedBytes: MAX_TEXT_BYTES });
    const message = clientMessage(text);
    if (message.type === 'end') {
      if (this.#stream === undefined) throw invalid('end before start');
      this.#stream.session.end();
      return;
    }
    if (this.#stream !== undefined) throw invalid(`${message.type} after the stream has begun`);
    if (message.type === 'start') this.#start(message.parameters);
    else this.#resume(message.session_id, message.secret, message.events);
  }
}

export function errorMessage(
  { code, key, message, status, retryAfterS }: ServiceError,
  correlationId: string,
): StreamErrorMessage {
  return {
    type: 'error',
    error: code as Exclude<ServiceError['code'], 'forbidden_error'>,
    key,
    message,
    status,
    ...(retryAfterS !== undefined && { retry_after_s: retryAfterS }),
    correlation_id: correlationId,
  };
}

/** A slow client gets it whole. */
const isLast = ({ type }: ServerMessage): boolean => type === 'result' || type === 'error';

export function endSocket(socket: Socket | undefined, reason: ServiceError | undefined): void {
  if (reason === undefined) socket?.end(NORMAL_CLOSE, '');
  // It would not take the reason either.
  else if ((socket?.unreadBytes ?? 0) > FREE_UNREAD_BYTES) socket?.cut();
  // RFC 6455: a reason has at most 123 bytes; keys of errors are shorter.
  else socket?.end(CLOSE_CODE_BASE + reason.status, reason.key);
}

export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('INTERNAL', {}, { cause: error });

function readyMessage({ id, secret, session }: OpenStream, warnings: readonly string[]): ServerMessage {
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
    ...(fields.profile !== undefined && { profile: fields.profile }),
    silence_threshold: fields.silence_threshold,
    warnings,
  };
}
