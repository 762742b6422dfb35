// SPDX-License-Identifier: Apache-2.0
import { VeravoxError } from './error.js';
import { within } from './server-events.js';
import { pause } from './transport.js';
import type {
  StreamError,
  StreamFields,
  StreamReady,
  StreamReceived,
  StreamResult,
  StreamResumed,
  StreamSkipped,
  StreamWindow,
} from './types.js';

export type StreamEvent = StreamWindow | StreamSkipped;
type Message = StreamEvent | StreamReady | StreamReceived | StreamResult | StreamResumed | StreamError;

/** The used part of the WebSocket of browsers and Node. */
interface WebSocketLike {
  binaryType: string;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

export interface StreamOptions extends StreamFields {
  /** Called for each window, in order. */
  readonly onEvent?: ((event: StreamEvent) => void) | undefined;
  /** Called about once per second of audio with the amount that has arrived, and that still waits for analysis. */
  readonly onReceived?: ((received: StreamReceived) => void) | undefined;
  /** Called with false when the connection is lost, and with true when the stream goes on. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
  /** The source of tickets, for pages without a key; by default the client asks for them with its own. */
  readonly ticket?: (() => Promise<string>) | undefined;
  /** In place of the global `WebSocket`. */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Ends the stream without a result. */
  readonly signal?: AbortSignal | undefined;
}

type OpenOptions = Omit<StreamOptions, 'ticket'> & { readonly ticket: () => Promise<string> };

const SAMPLE_BYTES = { pcm16: 2, mulaw: 1, alaw: 1 } as const;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;
/** For the server's first message on a connection, which may be one of a peer that says nothing. */
export const OPENING_MS = 10_000;
/** For any message, when one is due: a peer that has vanished ends no connection. As long as the server waits for its clients. */
const SILENCE_MS = 32_000;
/** Audio of which the server confirms the arrival. */
const RECEIPT_S = 1;
/** The server is full or stops, or the stream is in another of its processes. */
const RETRIED_STATUS = 503;

const never = new AbortController().signal;

function globalWebSocket(): WebSocketClass {
  const found = (globalThis as { WebSocket?: WebSocketClass }).WebSocket;
  if (found !== undefined) return found;
  throw new TypeError('Expected a global WebSocket or the option WebSocket.');
}

/** Samples at 48 kHz in an Opus packet (RFC 6716, section 3.1). */
function opusSamples([header = 0, second = 0]: Uint8Array): number {
  const config = header >> 3;
  const hybrid = config < 16 ? [10, 20][config % 2] : [2.5, 5, 10, 20][config % 4];
  const frameMs = config < 12 ? [10, 20, 40, 60][config % 4] : hybrid;
  const frames = [1, 2, 2, second & 63][header & 3];
  return 48 * (frameMs ?? 0) * (frames ?? 0);
}

interface KeptMessage {
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly samples: number;
}

/** Whether another try cannot help: the fault is the client's, and not its haste. */
const isFinal = (refusal: unknown): boolean =>
  refusal instanceof VeravoxError && refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429;

const tooLarge = (maxBytes: number): VeravoxError =>
  new VeravoxError(`The message exceeds the limit of ${maxBytes} bytes.`, {
    code: 'payload_too_large',
    status: 413,
    errorKey: 'STREAM_MESSAGE_TOO_LARGE',
    correlationId: undefined,
    retryAfterS: undefined,
  });

/** Live audio on its way to the server. Keeps unconfirmed audio, for a connection that is lost. */
export class LiveStream {
  readonly #url: string;
  readonly #options: OpenOptions;
  readonly #signal: AbortSignal;
  readonly #result: Promise<StreamResult>;
  #resolve!: (result: StreamResult) => void;
  #reject!: (reason: unknown) => void;
  #ready: StreamReady | undefined;
  #begun!: (ready: StreamReady) => void;
  #socket: WebSocketLike | undefined;
  /** Messages that may be sent again. */
  readonly #kept: KeptMessage[] = [];
  /** The server's counts of messages and samples before them. */
  #arrived = { messages: 0, samples: 0 };
  /** The number of kept messages already sent. Without a connection they count as sent: the next one begins anew. */
  #sent = 0;
  /** Of the whole stream. */
  #sentSamples = 0;
  /** When the server should have analysed all audio received so far. */
  #analysedAtMs = 0;
  #held: ReturnType<typeof setTimeout> | undefined;
  /** Callers of `send` whose audio is held back. */
  #waiting: (() => void)[] = [];
  #events = 0;
  /** Ends the connection. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  #giveUp = (): void => {};
  #isEnding = false;
  #isOver = false;

  private constructor(url: string, options: OpenOptions) {
    this.#url = url;
    this.#options = options;
    this.#signal = options.signal ?? never;
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Callers that want the result get the failure from it.
    this.#result.catch(() => {});
  }

  /** For VeravoxClient. */
  static async open(url: string, options: OpenOptions): Promise<LiveStream> {
    const stream = new LiveStream(url, options);
    const begun = new Promise<StreamReady>((resolve) => {
      stream.#begun = resolve;
    });
    void stream.#run();
    await Promise.race([begun, stream.#result]);
    return stream;
  }

  /** The server's first message. */
  get ready(): StreamReady {
    return this.#ready as StreamReady;
  }

  /**
   * Sends whole samples, or one packet of Opus. Resolves when more may be sent: half of the server's limit may be unconfirmed or
   * wait for analysis, so that a file can also be streamed.
   * @throws VeravoxError, or the signal's reason, once the stream has failed; VeravoxError for a packet beyond the server's limit
   */
  async send(audio: ArrayBuffer | ArrayBufferView): Promise<void> {
    if (this.#isEnding) throw new TypeError('The stream has ended.');
    if (this.#isOver) await this.#result;
    const bytes = ArrayBuffer.isView(audio)
      ? new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength).slice()
      : new Uint8Array(audio.slice(0));
    this.#keep(bytes);
    this.#flow();
    if (this.#sent === this.#kept.length) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isOver) await this.#result;
  }

  /** Says that the audio is over. @returns the verdict on all of it */
  end(): Promise<StreamResult> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#kept.push({ content: JSON.stringify({ type: 'end' }), samples: 0 });
      this.#flow();
    }
    return this.#result;
  }

  /** In messages that the server takes, and of at most the audio after which it confirms them. */
  #keep(bytes: Uint8Array<ArrayBuffer>): void {
    const { encoding } = this.#options;
    const { sample_rate, max_message_bytes } = this.ready;
    if (encoding === 'opus') {
      if (bytes.length > max_message_bytes) throw tooLarge(max_message_bytes);
      this.#kept.push({ content: bytes, samples: opusSamples(bytes) });
      return;
    }
    const sampleBytes = SAMPLE_BYTES[encoding];
    const step = sampleBytes * Math.min(RECEIPT_S * sample_rate, Math.floor(max_message_bytes / sampleBytes));
    for (let at = 0; at < bytes.length; at += step) {
      const content = bytes.subarray(at, at + step);
      this.#kept.push({ content, samples: content.length / sampleBytes });
    }
  }

  /** Sends what is kept, as far ahead of the analysis as it may be. */
  #flow(): void {
    clearTimeout(this.#held);
    let holdMs = 0;
    for (let next = this.#kept[this.#sent]; next !== undefined; next = this.#kept[this.#sent]) {
      holdMs = this.#holdMs();
      if (holdMs > 0) break;
      this.#sent++;
      this.#sentSamples += next.samples;
      this.#socket?.send(next.content);
    }
    this.#expect();
    if (holdMs === 0) for (const goOn of this.#waiting.splice(0)) goOn();
    else if (holdMs < Infinity) this.#held = setTimeout(() => this.#flow(), holdMs);
  }

  /** Infinite if the server must confirm audio first. A server that keeps up analyses at the pace of speech. */
  #holdMs(): number {
    const roomMs = 1000 * (this.ready.max_waiting_s / 2 - this.#unconfirmedS);
    if (roomMs < 0) return Infinity;
    return Math.max(0, this.#analysedAtMs - performance.now() - roomMs);
  }

  get #unconfirmedS(): number {
    return (this.#sentSamples - this.#arrived.samples) / this.ready.sample_rate;
  }

  /** Whether the server owes a message. */
  get #isDue(): boolean {
    return this.#isEnding || this.#unconfirmedS >= RECEIPT_S;
  }

  async #run(): Promise<void> {
    const abort = (): void => this.#fail(this.#signal.reason);
    if (this.#signal.aborted) abort();
    this.#signal.addEventListener('abort', abort, { once: true });
    let lostMs = 0;
    let lastProgress = -1;
    let pauseMs = FIRST_PAUSE_MS;
    try {
      while (!this.#isOver) {
        const hadSession = await this.#connect();
        if (this.#isOver) return;
        if (this.#ready === undefined) throw new TypeError('The stream could not be opened.');
        const nowMs = performance.now();
        if (hadSession) {
          const progress = this.#arrived.messages + this.#events;
          // A stream that is resumed again and again without progress is as good as lost.
          if (progress > lastProgress || !this.#isDue) {
            lostMs = nowMs;
            pauseMs = FIRST_PAUSE_MS;
          }
          lastProgress = progress;
          this.#options.onConnection?.(false);
        }
        if (nowMs - lostMs > 1000 * this.#ready.resume_within_s)
          throw new TypeError('The connection of the stream was lost.');
        await pause(Math.random() * pauseMs, this.#signal);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#signal.removeEventListener('abort', abort);
    }
  }

  /** Resolves when the connection has ended: whether it had the stream. */
  async #connect(): Promise<boolean> {
    const { WebSocket = globalWebSocket() } = this.#options;
    let ticket: string;
    try {
      ticket = await within(OPENING_MS, this.#options.ticket());
    } catch (error) {
      // Before the stream has begun, the refusal is the caller's; later the server may be back in time.
      if (this.#ready === undefined || isFinal(error)) throw error;
      return false;
    }
    const socket = new WebSocket(this.#url, ['veravox.v1', `veravox.ticket.${ticket}`]);
    socket.binaryType = 'arraybuffer';
    let hasSession = false;
    let isGivenUp = false;
    return new Promise((resolve) => {
      const ended = (): void => {
        clearTimeout(this.#silence);
        if (this.#socket === socket) this.#socket = undefined;
        resolve(hasSession);
      };
      this.#giveUp = () => {
        isGivenUp = true;
        socket.close();
        // A browser waits long for the other side's part in that.
        ended();
      };
      this.#silence = setTimeout(this.#giveUp, OPENING_MS);
      socket.addEventListener('open', () => socket.send(JSON.stringify(this.#hello())));
      socket.addEventListener('error', () => {});
      socket.addEventListener('message', ({ data }) => {
        if (isGivenUp) return;
        const message = JSON.parse(String(data)) as Message;
        hasSession ||= message.type === 'ready' || message.type === 'resumed';
        // After a refusal the server closes the connection.
        if (hasSession) {
          clearTimeout(this.#silence);
          this.#silence = undefined;
        }
        this.#take(message, socket);
        this.#expect();
      });
      socket.addEventListener('close', () => {
        if (!isGivenUp) ended();
      });
      if (this.#isOver) socket.close();
    });
  }

  /** Limits the time until the server's next message, if one is due. */
  #expect(): void {
    if (this.#socket === undefined || this.#isOver) return;
    if (this.#isDue) this.#silence ??= setTimeout(this.#giveUp, SILENCE_MS);
  }

  #hello(): object {
    if (this.#ready !== undefined) {
      const { session_id, secret } = this.#ready;
      return { type: 'resume', session_id, secret, events: this.#events };
    }
    const { onEvent, onReceived, onConnection, ticket, WebSocket, signal, ...fields } = this.#options;
    return { ...fields, type: 'start' };
  }

  #take(message: Message, socket: WebSocketLike): void {
    switch (message.type) {
      case 'ready':
        this.#ready = message;
        this.#socket = socket;
        this.#begun(message);
        break;
      case 'resumed':
        this.#forget(message);
        this.#sent = 0;
        this.#sentSamples = message.samples;
        this.#socket = socket;
        this.#flow();
        this.#options.onConnection?.(true);
        break;
      case 'received':
        this.#forget(message);
        this.#flow();
        this.#options.onReceived?.(message);
        break;
      case 'window':
      case 'skipped':
        this.#events = message.event + 1;
        this.#options.onEvent?.(message);
        break;
      case 'result':
        this.#isOver = true;
        this.#resolve(message);
        break;
      case 'error':
        this.#refused(message);
    }
  }

  #refused({ error, key, message, status, retry_after_s, correlation_id }: StreamError): void {
    const isResuming = this.#ready !== undefined && this.#socket === undefined;
    if (status === RETRIED_STATUS && isResuming && key !== 'STOPPING') return;
    this.#fail(
      new VeravoxError(message, {
        code: error,
        status,
        errorKey: key,
        correlationId: correlation_id,
        retryAfterS: retry_after_s,
      }),
    );
  }

  #forget(message: StreamReceived | StreamResumed): void {
    const { messages, samples } = message;
    const count = messages - this.#arrived.messages;
    const nowMs = performance.now();
    // All audio of which the confirmation was lost may still wait.
    this.#analysedAtMs =
      message.type === 'received'
        ? nowMs + 1000 * message.waiting_s
        : Math.max(nowMs, this.#analysedAtMs) +
          (1000 * (samples - this.#arrived.samples)) / this.ready.sample_rate;
    this.#kept.splice(0, count);
    this.#sent -= count;
    this.#arrived = { messages, samples };
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#held);
    this.#reject(reason);
    for (const goOn of this.#waiting.splice(0)) goOn();
    this.#giveUp();
  }
}
