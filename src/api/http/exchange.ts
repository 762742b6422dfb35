// SPDX-License-Identifier: Apache-2.0
import { CLIENT_GONE_STATUS, type RequestRecord } from '../../base/observe/request-record.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import { addressBlock } from '../admission/address-block.js';
import type { Turn } from '../admission/expected-wait.js';
import { HeldMemory, type MemoryBudget } from '../admission/memory-budget.js';
import type { RateState } from '../admission/rate-limits.js';
import type { Permit } from '../admission/request-permits.js';
import { type Holder, nobody } from '../admission/shared-budget.js';
import type { Headers, Reply, ReplyStream, ReplyTexts, Route, RouteRequest } from '../routes/route.js';
import type { SocketHandler } from '../streams/socket.js';
import type { BodyStream } from '../upload/body-stream.js';
import type { AnswerLimits } from './answer-limits.js';
import type { ClientAddresses } from './client-address.js';
import { Handshake } from './handshake.js';
import { closingHeaders, headersOf, statusLine, valuesOf, writeHead } from './heads.js';
import { IncomingBody } from './incoming-body.js';
import { PendingAnswer } from './pending-answer.js';
import { ClientStalled, sendPiece, sendText } from './piece-sender.js';
import { correlationIdOf, type RequestHead } from './request-head.js';
import {
  answerAndCut,
  answerBodilessAndCut,
  type HttpRequest,
  type HttpResponse,
  type SocketContext,
  writeUnended,
} from './uws.js';

/** Time to read and discard the rest of a refused body, so that the client gets to read the refusal. */
const LINGER_MS = 5000;
/** Largest buffered answer that ends its connection: room for any error and most results. */
const MAX_BUFFERED_BYTES = 16 * 1024;

/** Of a body that arrives before the key is known, whatever else is in memory. */
const FREE_HELD_BYTES = 16 * 1024;

/** Time to wait for the rest of a body if little is missing. */
const NEAR_END_MS = 20;

/** The client closed the connection, or uWebSockets.js did for it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const noHeaders: ReadonlyMap<string, string> = new Map();

/**
 * One request and its answer. Everything that uWebSockets.js demands of its users happens here and nowhere else: needed
 * parts of the request are copied immediately, an abort handler is always attached, and the answer is sent exactly once,
 * in one piece, and never after an abort.
 */
export class Exchange implements RouteRequest, BodyStream {
  readonly method: string;
  /** As its route knows it: without a slash that has no effect there. */
  path: string;
  readonly query: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly isStrict: boolean;
  readonly ignored: string[] = [];
  apiKey: string;
  /** Instead of a key, on a request that wants a WebSocket. */
  ticket = '';
  headers: ReadonlyMap<string, string> = noHeaders;
  caller: AuthenticatedKey | undefined;
  isOperator = false;
  /** Headers of all its answers, independent of the route. */
  sharedHeaders: Headers = [];
  /** Its route, once known; for a wrong method, any route of the path. */
  route: Route | undefined;
  /** The state of the key's rate limit; undefined if it has none or is not known yet. */
  rate: RateState | undefined;
  /** Resources of its route, while it holds them. */
  models: Route['models'];
  /** The holder of its permit, once it is admitted. */
  holder: Holder = nobody;
  /** Set while it is admitted. */
  permit: Permit | undefined;
  /** Counts as in flight for its key. */
  isInFlight = false;
  /** Its place in the queue for the threads, if it needs one. */
  turn: Turn | undefined;
  readonly record: RequestRecord;
  readonly #res: HttpResponse;
  readonly #startedMs = performance.now();
  readonly #addresses: ClientAddresses;
  readonly #peer: ArrayBuffer;
  #handshake: Handshake | undefined;
  #forwardedFor = '';
  #clientAddress: string | undefined;
  readonly #receiving: Set<Exchange>;
  #abort: AbortController | undefined;
  readonly #incoming: IncomingBody;
  /** An answer can no longer be sent: one was, or the client has gone. */
  #over = false;
  /** Its answer is being sent in pieces. */
  #isSending = false;
  #lingerTimer: NodeJS.Timeout | undefined;
  /** Sends an answer that waits for the end of the body. */
  #afterBody: (() => void) | undefined;
  #hasWaitedForBody = false;
  readonly #limits: AnswerLimits;
  readonly #memory: MemoryBudget;
  #kept: HeldMemory | undefined;
  #pending: PendingAnswer | undefined;
  /** The connection has ended: calls to uWebSockets.js are no longer allowed. */
  #gone = false;

  /** @param receiving the exchanges with a body on its way, in or out: see `keepReceiving` */
  constructor(
    res: HttpResponse,
    req: HttpRequest,
    head: RequestHead,
    receiving: Set<Exchange>,
    addresses: ClientAddresses,
    limits: AnswerLimits,
    memory: MemoryBudget,
  ) {
    this.#res = res;
    this.#receiving = receiving;
    this.#addresses = addresses;
    this.#limits = limits;
    this.#memory = memory;
    this.#peer = res.getRemoteAddress();
    if (addresses.readsForwardedFor) this.#forwardedFor = valuesOf(req, 'x-forwarded-for');
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // Undefined without a question mark, whatever its type says.
    this.query = (req.getQuery() as string | undefined) ?? '';
    this.contentType = head.contentType;
    this.contentEncoding = head.contentEncoding;
    // A deletion cannot be undone, so the server does not guess.
    this.isStrict = this.method === 'DELETE' || /(?:^|[,;\s])handling="?strict\b/i.test(head.prefer);
    this.apiKey = head.apiKey;
    this.#incoming = new IncomingBody(res, head.declaredBytes);
    this.record = {
      correlationId: correlationIdOf(head),
      method: this.method,
      route: 'other',
      status: CLIENT_GONE_STATUS,
      stagesMs: {},
      totalMs: 0,
    };
    res.onAborted(() => this.#aborted());
    if (this.#incoming.isPending) {
      receiving.add(this);
      res.onData((chunk, isLast) => this.#received(chunk, isLast));
    }
  }

  /** Empty if the system does not tell. Computed on demand, because most requests need it only at the end. */
  get clientAddress(): string {
    this.#clientAddress ??= this.#addresses.of(this.#peer, this.#forwardedFor);
    return this.#clientAddress;
  }

  get isFromTrustedProxy(): boolean {
    return this.#addresses.isTrustedProxy(this.#peer);
  }

  /** For routes that need more headers than every request keeps. Only while uWebSockets.js' handler runs. */
  copyHeaders(req: HttpRequest): void {
    this.headers = headersOf(req);
  }

  /** For requests that want a WebSocket. Only while uWebSockets.js' handler runs. */
  offerSocket(req: HttpRequest, context: SocketContext): void {
    this.#handshake = new Handshake(req, context);
    const { key, ticket } = this.#handshake.presented;
    if (this.apiKey === '') this.apiKey = key;
    this.ticket = ticket;
  }

  get wantsSocket(): boolean {
    return this.#handshake !== undefined;
  }

  /** Makes a WebSocket of the connection. False if the client has gone. */
  upgrade(handler: SocketHandler): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#gone = true;
    this.#receiving.delete(this);
    this.record.status = 101;
    // Not corked: uWebSockets.js would go on to read the WebSocket as if it were still a response, and close some of them.
    this.#handshake?.accept(this.#res, handler);
    return true;
  }

  get body(): BodyStream {
    return this;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#over) this.#abort.abort(new ClientGone());
    }
    return this.#abort.signal;
  }

  /** True once nothing can be sent. */
  get isOver(): boolean {
    return this.#over;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  get declaredBytes(): number | undefined {
    return this.#incoming.declaredBytes;
  }

  get receivedBytes(): number {
    return this.#incoming.receivedBytes;
  }

  onChunk(listener: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.giveBackMemory();
    this.#incoming.onChunk(listener);
  }

  keep(bytes: number): void {
    if (bytes === 0 && this.#kept === undefined) return;
    this.#kept ??= new HeldMemory(this.#memory, this.#payer);
    this.#kept.resize(bytes);
  }

  /** Call it when the request is over. */
  giveBackMemory(): void {
    this.#kept?.release();
    this.#kept = undefined;
  }

  /** Keeps the body's bytes for a listener that is found a few microtasks later. */
  holdBody(): void {
    this.#incoming.hold();
  }

  /** Without a listener: discards held and later chunks. */
  dropHeldBody(): void {
    if (this.#incoming.heldBytes === 0) return;
    this.giveBackMemory();
    this.#incoming.dropHeld();
  }

  pause(): void {
    if (!this.#over) this.#incoming.pause(this.elapsedMs);
  }

  resume(): void {
    if (!this.#over) this.#incoming.resume(this.elapsedMs);
  }

  /** Time that the body has been on its way, without the time in which we did not read it; 0 while we do not, or answer. */
  get receivingMs(): number {
    return this.#over || this.#isSending ? 0 : this.#incoming.receivingMs(this.elapsedMs);
  }

  /** Readers of the body fail with this reason. */
  cutBody(reason: unknown): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  holdFor(account: string, file?: string): void {
    this.permit?.holdFor(account, file);
  }

  beginTurn(): void {
    this.turn?.begin();
  }

  /** See `IncomingBody.keepReceiving`. */
  keepReceiving(): void {
    this.#incoming.keepReceiving();
  }

  /** Sends the answer, unless the client has gone. `closes`: the connection ends with it. */
  send(reply: Reply, headers: Headers, closes: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.dropHeldBody();
    this.record.status = reply.recordedStatus ?? reply.status;
    if (this.#limits.takeTurn()) this.#sendNow(reply, headers, closes);
    else setImmediate(() => this.#sendNow(reply, headers, closes));
  }

  /** Sends the answer and ends the connection before anything else in the same packet is parsed. */
  cut(reply: Reply, headers: Headers): void {
    this.#over = true;
    this.#receiving.delete(this);
    this.record.status = reply.status;
    this.#limits.onClose('framing');
    const status = statusLine(reply.status);
    answerAndCut(this.#res, status, closingHeaders(reply, headers), String(reply.body));
  }

  /**
   * Sends an answer while its body is being read. Resolves when the system has taken all of it, or the client has gone
   * or stalls. Rejects if the body cannot be read; the connection is cut then, unless nothing was sent yet.
   */
  async sendStream(reply: Reply, headers: Headers, stallTimeoutMs: number, closes: boolean): Promise<void> {
    const stream = reply.stream as ReplyStream;
    if (this.method === 'HEAD' || stream.bytes === 0) {
      this.send(reply, headers, closes);
      return;
    }
    // The client left before there was an answer: nothing may be done with the connection while the first piece is read.
    if (this.#over) return;
    const limits = { signal: this.signal, timeoutMs: stallTimeoutMs };
    let sentBytes = 0;
    let hasBegun = false;
    this.#receiving.add(this);
    this.#isSending = true;
    try {
      while (sentBytes < stream.bytes) {
        const piece = await stream.read();
        if (this.#over) return;
        const begin = sentBytes === 0 ? () => writeHead(this.#res, reply, headers, closes) : undefined;
        hasBegun = true;
        await sendPiece(this.#res, piece, stream.bytes, begin, limits);
        if (this.#over) return;
        sentBytes += piece.length;
      }
      this.#over = true;
      this.record.status = reply.status;
    } catch (error) {
      if (error instanceof ClientGone) return;
      if (!this.#over && hasBegun) this.#res.close();
      if (!(error instanceof ClientStalled)) throw error;
    } finally {
      this.#isSending = false;
      this.#receiving.delete(this);
    }
  }

  /**
   * Sends an answer of unknown length. Resolves when the system has taken all of it, or the client has gone or stalls. Rejects
   * if there is no next text; the connection is cut then.
   */
  async sendTexts(reply: Reply, headers: Headers, stallTimeoutMs: number): Promise<void> {
    const texts = reply.texts as ReplyTexts;
    if (this.method === 'HEAD') {
      this.send(reply, headers, false);
      return;
    }
    if (this.#over) return;
    const limits = { signal: this.signal, timeoutMs: stallTimeoutMs };
    // A pending `next` must not outlive the client.
    this.signal.addEventListener('abort', () => texts.close(), { once: true });
    this.#receiving.add(this);
    this.#isSending = true;
    try {
      let begin: (() => void) | undefined = () => writeHead(this.#res, reply, headers, false);
      for (let text = await texts.next(); text !== undefined; text = await texts.next()) {
        if (this.#over) return;
        await sendText(this.#res, text, begin, limits);
        begin = undefined;
        if (this.#over) return;
      }
      if (this.#over) return;
      this.#over = true;
      this.record.status = reply.status;
      this.#res.cork(() => {
        begin?.();
        this.#res.end();
      });
    } catch (error) {
      if (error instanceof ClientGone) return;
      if (!this.#gone) this.#res.close();
      if (!(error instanceof ClientStalled)) throw error;
    } finally {
      this.#receiving.delete(this);
    }
  }

  #sendNow(reply: Reply, headers: Headers, closes: boolean): void {
    if (this.#gone) return;
    this.#incoming.unblock();
    const bytes = this.method === 'HEAD' || reply.status === 204 ? 0 : Buffer.byteLength(reply.body);
    // Compressed bytes are no text, and go another way.
    const isSmall = bytes <= MAX_BUFFERED_BYTES && typeof reply.body === 'string';
    if (this.#incoming.isPending && bytes > 0 && isSmall) {
      if (this.#incoming.isEndNear && !this.#hasWaitedForBody)
        this.#sendAfterBody(() => this.#sendNow(reply, headers, closes));
      else this.#res.cork(() => this.#sendEarly(reply, headers));
      return;
    }
    this.#receiving.delete(this);
    if (bytes === 0) this.#sendBodiless(reply, headers, closes);
    else if (closes && isSmall) this.#sendLast(reply, headers);
    else {
      const begin = (): void => writeHead(this.#res, reply, headers, closes);
      this.#pending = PendingAnswer.offer(this.#res, reply.body, bytes, this.#limits, this.#payer, begin);
    }
  }

  #sendBodiless(reply: Reply, headers: Headers, closes: boolean): void {
    const res = this.#res;
    const all = [...headers];
    if (reply.contentType !== '') all.push(['content-type', reply.contentType]);
    // Given a length, endWithoutBody leaves the request unanswered in uWebSockets.js' eyes: the next one would end the
    // connection. So the length is a header of ours.
    if (reply.status !== 204 && reply.status !== 304) {
      all.push(['content-length', String(reply.stream?.bytes ?? Buffer.byteLength(reply.body))]);
    }
    const status = statusLine(reply.status);
    if (closes || !this.#limits.takeBodiless(this.#payer)) {
      // At once: another request in the same packet would end the connection before the answers reach the client.
      answerBodilessAndCut(res, status, [...all, ['date', new Date().toUTCString()]]);
      return;
    }
    res.cork(() => {
      res.writeStatus(status);
      for (const [name, value] of all) res.writeHeader(name, value);
      res.endWithoutBody();
    });
  }

  /** The last answer of its connection, which ends as soon as the system has it. */
  #sendLast(reply: Reply, headers: Headers): void {
    const status = statusLine(reply.status);
    this.#res.cork(() => writeUnended(this.#res, status, closingHeaders(reply, headers), String(reply.body)));
    // Not immediately: the answer may still be in uWebSockets.js' buffer.
    setImmediate(() => this.#cutOff());
  }

  /**
   * Most clients send a small body together with its head. Waiting for it keeps the connection open: under load, a new
   * connection for each refused request would cost more than the refusal.
   */
  #sendAfterBody(send: () => void): void {
    this.#hasWaitedForBody = true;
    this.#incoming.drop();
    this.#afterBody = () => {
      clearTimeout(this.#lingerTimer);
      this.#lingerTimer = undefined;
      this.#afterBody = undefined;
      send();
    };
    this.#lingerTimer = setTimeout(this.#afterBody, NEAR_END_MS);
  }

  /** The answer to a request whose body is still coming. The connection is closed, but not before it has been read. */
  #sendEarly(reply: Reply, headers: Headers): void {
    this.#incoming.drop();
    const status = statusLine(reply.status);
    writeUnended(this.#res, status, closingHeaders(reply, headers), String(reply.body));
    this.#lingerTimer = setTimeout(() => this.#close(), LINGER_MS);
    this.#lingerTimer.unref();
  }

  #cutOff(): void {
    if (!this.#gone) this.#res.close();
  }

  #received(chunk: ArrayBuffer, isLast: boolean): void {
    this.#incoming.count(chunk, isLast);
    if (this.#incoming.hasTinyChunks) {
      // At once: after a pause, the rest of what was read would still come.
      this.#limits.onClose('small_chunks');
      this.#cutOff();
      return;
    }
    // A paused socket must be resumed, which starts uWebSockets.js' clock: the answer ends the connection in time.
    if (isLast && !this.#incoming.isPaused) this.#receiving.delete(this);
    if (this.#over) {
      if (!isLast) return;
      if (this.#afterBody !== undefined) this.#afterBody();
      // Not immediately: if head and body came together, the answer is still in uWebSockets.js' buffer.
      else setImmediate(() => this.#close());
      return;
    }
    this.#incoming.deliver(chunk, isLast);
    this.#keepHeld();
  }

  /** The holder of its memory: of a stranger, only the address is known. */
  get #payer(): Holder {
    return this.holder === nobody ? { address: addressBlock(this.clientAddress) } : this.holder;
  }

  #keepHeld(): void {
    const { heldBytes } = this.#incoming;
    if (heldBytes <= FREE_HELD_BYTES) return;
    try {
      this.keep(heldBytes - FREE_HELD_BYTES);
    } catch {
      this.#limits.onClose('body_memory');
      this.#cutOff();
    }
  }

  /** After an early answer. */
  #close(): void {
    if (this.#lingerTimer === undefined) return;
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = undefined;
    this.#cutOff();
  }

  #aborted(): void {
    this.#gone = true;
    this.#pending?.letGo();
    this.#receiving.delete(this);
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = undefined;
    this.#afterBody = undefined;
    this.#incoming.drop();
    if (this.#over) return;
    this.#over = true;
    this.#abort?.abort(new ClientGone());
  }
}
