// SPDX-License-Identifier: Apache-2.0
import { type CallEvent, callParameters, type LegName } from '../../base/contract/call.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import type { ServerMessage } from '../../base/contract/stream.js';
import { TELEPHONE_RATE_HZ } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { type Notes, noteFields } from '../upload/ignored-fields.js';
import { CallLog } from './call-log.js';
import { invalid } from './client-message.js';
import { LegAudio } from './leg-audio.js';
import { type MediaMessage, mediaMessage } from './media-message.js';
import type { Socket, SocketHandler } from './socket.js';
import {
  asServiceError,
  type ConnectionPlace,
  endSocket,
  errorMessage,
  HELLO_TIMEOUT_S,
  MAX_TEXT_BYTES,
  type StreamHost,
} from './stream-connection.js';
import { FREE_UNREAD_BYTES } from './stream-memory.js';
import type { CallTimes, SessionListener } from './stream-session.js';
import { type OpenStream, RESUME_WITHIN_S } from './stream-sessions.js';

/** The server, as a call sees it. */
export interface CallHost
  extends Pick<StreamHost, 'correlationId' | keyof Notes | 'sessions' | 'start' | 'endedWithoutStream'> {
  readonly idleTimeoutS: number;
  /** Lets followers find the call. @returns ends that */
  add(ids: readonly string[], log: CallLog): () => void;
}

type StartOfCall = Extract<MediaMessage, { event: 'start' }>;

/** One leg of a call: a stream of its own, whose events go to the call's log. */
class Leg implements SessionListener {
  readonly id: string;
  isOver = false;
  readonly #name: LegName;
  readonly #session: OpenStream['session'];
  readonly #audio: LegAudio;
  readonly #notes: readonly string[];
  readonly #tell: (event: CallEvent) => void;
  readonly #onOver: (reason: ServiceError | undefined) => void;

  /** @param notes on the parameters of the call */
  constructor(
    name: LegName,
    encoding: StartOfCall['encoding'],
    { id, session }: OpenStream,
    notes: readonly string[],
    tell: (event: CallEvent) => void,
    onOver: (reason: ServiceError | undefined) => void,
  ) {
    this.#name = name;
    this.id = id;
    this.#session = session;
    this.#audio = new LegAudio(encoding, (bytes) => session.audio(bytes));
    this.#notes = notes;
    this.#tell = tell;
    this.#onOver = onOver;
    session.listen(this);
  }

  get times(): CallTimes {
    return this.#audio;
  }

  /** @throws ServiceError as `StreamSession.audio` does */
  add(atMs: number, bytes: Uint8Array): void {
    this.#audio.add(atMs, bytes);
  }

  /** The result follows. @throws ServiceError as `StreamSession.audio` does */
  end(): void {
    if (this.isOver) return;
    this.#audio.flush();
    this.#session.end();
  }

  fail(reason: ServiceError): void {
    this.#session.fail(reason);
  }

  send(message: ServerMessage): void {
    const leg = this.#name;
    if (message.type === 'result')
      this.#tell({ ...message, warnings: [...message.warnings, ...this.#notes], leg });
    if (message.type === 'window' || message.type === 'skipped') this.#tell({ ...message, leg });
  }

  over(reason: ServiceError | undefined): void {
    this.isOver = true;
    this.#onOver(reason);
  }
}

/**
 * The WebSocket of a telephony provider. It carries one call; nothing is sent back, since providers take only audio. Followers get
 * the events.
 */
export class CallConnection implements SocketHandler {
  readonly #host: CallHost;
  readonly #place: ConnectionPlace;
  readonly #log: CallLog;
  readonly #legs = new Map<LegName, Leg>();
  #socket: Socket | undefined;
  #start: StartOfCall | undefined;
  #remove = (): void => {};
  /** For the time without audio before there is a leg, which has a limit of its own. */
  #timer: NodeJS.Timeout | undefined;
  #failure: ServiceError | undefined;
  #isEnding = false;
  #isOver = false;

  /** @param place left at the end of the audio; its memory holds the events for some time */
  constructor(host: CallHost, place: ConnectionPlace) {
    this.#host = host;
    this.#place = place;
    this.#log = new CallLog(place.memory);
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#waitFor(HELLO_TIMEOUT_S);
  }

  message(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isEnding) return;
    try {
      if (isBinary) throw invalid('expected text');
      if (bytes.length > MAX_TEXT_BYTES)
        throw new ServiceError('STREAM_MESSAGE_TOO_LARGE', { allowedBytes: MAX_TEXT_BYTES });
      this.#take(mediaMessage(bytes));
    } catch (error) {
      this.#fail(asServiceError(error));
    }
  }

  /** Nothing else is sent to it. */
  pinged(): void {
    if (this.#isEnding || (this.#socket?.unreadBytes ?? 0) <= FREE_UNREAD_BYTES) return;
    this.#fail(new ServiceError('STREAM_NOT_READ'));
  }

  /** Providers do not come back: a lost call ends like others. */
  closed(): void {
    this.#socket = undefined;
    this.#end();
  }

  #take(message: MediaMessage | undefined): void {
    if (message === undefined) return;
    if (message.event === 'start') {
      if (this.#start !== undefined) throw invalid('start after start');
      this.#start = message;
      this.#remove = this.#host.add(message.ids, this.#log);
      noteFields(this.#host, Object.keys(message.parameters), callParameters);
      this.#waitFor(this.#host.idleTimeoutS);
      return;
    }
    if (this.#start === undefined) throw invalid(`${message.event} before start`);
    if (message.event === 'stop') {
      this.#end();
      return;
    }
    clearTimeout(this.#timer);
    const leg = this.#legs.get(message.leg) ?? this.#open(message.leg, this.#start);
    // A leg may be silent for long while the other one talks.
    for (const { id } of this.#legs.values()) this.#host.sessions.heard(id);
    leg.add(message.atMs, message.bytes);
  }

  #open(name: LegName, { encoding, parameters }: StartOfCall): Leg {
    const { prediction_id: id } = parameters;
    const known = Object.entries(parameters).filter(([parameter]) => callParameters.includes(parameter));
    const stream = this.#host.start({
      ...Object.fromEntries(known),
      ...(id !== undefined && { prediction_id: `${id}:${name}` }),
      encoding,
      sample_rate: TELEPHONE_RATE_HZ,
    });
    const leg = new Leg(
      name,
      encoding,
      stream,
      this.#host.ignored,
      (event) => this.#tell(event),
      (reason) => this.#legOver(name, reason),
    );
    this.#legs.set(name, leg);
    return leg;
  }

  #waitFor(seconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(new ServiceError('STREAM_IDLE', { seconds })), seconds * 1000);
  }

  #tell(event: CallEvent): void {
    try {
      this.#log.tell(event);
    } catch (error) {
      this.#fail(asServiceError(error));
    }
  }

  /** Nothing more is read. */
  #beginEnding(): void {
    this.#isEnding = true;
    this.#place.leave();
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#beginEnding();
    for (const leg of this.#legs.values()) {
      try {
        leg.end();
      } catch (error) {
        leg.fail(asServiceError(error));
      }
    }
    if (this.#legs.size > 0) return;
    if (this.#start === undefined) this.#over();
    else this.#fail(new ServiceError('AUDIO_TOO_SHORT', { measuredS: 0, requiredS: MIN_DURATION_S }));
  }

  #legOver(leg: LegName, reason: ServiceError | undefined): void {
    if (reason !== undefined) this.#tell({ ...errorMessage(reason, this.#host.correlationId), leg });
    if (reason !== undefined && !this.#isEnding) this.#fail(reason);
    else if (this.#isEnding && [...this.#legs.values()].every(({ isOver }) => isOver)) this.#over();
  }

  /** Ends all legs. */
  #fail(reason: ServiceError): void {
    this.#beginEnding();
    this.#failure ??= reason;
    for (const leg of this.#legs.values()) leg.fail(reason);
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const reason = this.#failure;
    clearTimeout(this.#timer);
    if (this.#legs.size === 0) {
      if (reason !== undefined) this.#tell(errorMessage(reason, this.#host.correlationId));
      this.#host.endedWithoutStream(reason);
    }
    this.#tell({ type: 'end' });
    this.#log.end();
    endSocket(this.#socket, reason);
    if (this.#start === undefined) this.#place.release();
    else releaseLater(this.#remove, this.#place);
  }
}

/** The call's events stay for some time; outside the class, so that nothing else of the call does. */
function releaseLater(remove: () => void, place: ConnectionPlace): void {
  const release = (): void => {
    remove();
    place.release();
  };
  setTimeout(release, RESUME_WITHIN_S * 1000).unref();
}
