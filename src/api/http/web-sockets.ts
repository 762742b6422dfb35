// SPDX-License-Identifier: Apache-2.0
import type { Socket } from '../streams/socket.js';
import { MAX_AUDIO_MESSAGE_BYTES } from '../streams/stream-memory.js';
import type { SocketData } from './handshake.js';
import type { HttpRequest, HttpResponse, SocketContext, WebSocket, WebSocketBehavior } from './uws.js';

/** Without a sign of life, pings included. */
const SILENCE_S = 32;
/** The last wall: routes end sockets that are not read much earlier. The result of a day's stream fits. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Messages and pings in a burst. More come at this rate, or bring audio: the shortest Opus packets have about this many bytes. */
const MAX_BURST = 5000;
const MESSAGES_PER_MS = 0.5;
const AUDIO_BYTES_PER_MESSAGE = 8;

/** A WebSocket whose calls are allowed until it has ended. */
class OpenSocket implements Socket {
  #ws: WebSocket<SocketData> | undefined;
  #messagesLeft = MAX_BURST;
  #refilledMs = performance.now();

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws;
  }

  /** Ends a connection whose messages would keep everybody else waiting; false then. */
  admits(audioBytes: number): boolean {
    const nowMs = performance.now();
    const refill = (nowMs - this.#refilledMs) * MESSAGES_PER_MS + audioBytes / AUDIO_BYTES_PER_MESSAGE;
    this.#messagesLeft = Math.min(MAX_BURST, this.#messagesLeft + refill) - 1;
    this.#refilledMs = nowMs;
    if (this.#messagesLeft >= 0) return true;
    this.cut();
    return false;
  }

  send(text: string): void {
    this.#ws?.send(text, false);
  }

  get unreadBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0;
  }

  end(code: number, reason: string): void {
    const ws = this.#ws;
    this.#ws = undefined;
    ws?.end(code, reason);
  }

  cut(): void {
    const ws = this.#ws;
    this.#ws = undefined;
    ws?.close();
  }

  ended(): void {
    this.#ws = undefined;
  }
}

/** Hands WebSockets to their handlers. @param ended called for each connection that ends as a WebSocket */
export function socketBehavior(
  handleUpgrade: (res: HttpResponse, req: HttpRequest, context: SocketContext) => void,
  ended?: () => void,
): WebSocketBehavior<SocketData> {
  const sockets = new WeakMap<SocketData, OpenSocket>();
  return {
    // Larger messages end the connection without an answer, before they take more memory than the connection has.
    maxPayloadLength: MAX_AUDIO_MESSAGE_BYTES,
    maxBackpressure: MAX_UNREAD_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: SILENCE_S,
    sendPingsAutomatically: true,
    upgrade: handleUpgrade,
    open(ws) {
      const data = ws.getUserData();
      const socket = new OpenSocket(ws);
      sockets.set(data, socket);
      data.handler.opened(socket);
    },
    message(ws, message, isBinary) {
      const data = ws.getUserData();
      if (sockets.get(data)?.admits(isBinary ? message.byteLength : 0))
        data.handler.message(new Uint8Array(message), isBinary);
    },
    ping(ws) {
      const data = ws.getUserData();
      if (sockets.get(data)?.admits(0)) data.handler.pinged();
    },
    close(ws) {
      const data = ws.getUserData();
      sockets.get(data)?.ended();
      data.handler.closed();
      // The filter of connections is told of the others' end only.
      ended?.();
    },
  };
}
