// SPDX-License-Identifier: Apache-2.0
import type { Socket } from '../streams/socket.js';
import { MAX_AUDIO_MESSAGE_BYTES } from '../streams/stream-memory.js';
import type { SocketData } from './handshake.js';
import type { HttpRequest, HttpResponse, SocketContext, WebSocket, WebSocketBehavior } from './uws.js';

/** Without a sign of life, pings included. */
const SILENCE_S = 32;
/** The last wall: routes end sockets that are not read much earlier. The result of a day's stream fits. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** A WebSocket whose calls are allowed until it has ended. */
class OpenSocket implements Socket {
  #ws: WebSocket<SocketData> | undefined;

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws;
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
      ws.getUserData().handler.message(new Uint8Array(message), isBinary);
    },
    ping(ws) {
      ws.getUserData().handler.pinged();
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
