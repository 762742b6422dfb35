// SPDX-License-Identifier: Apache-2.0

/** One WebSocket, until it has ended. */
export interface Socket {
  send(text: string): void;
  /** What the client has not taken of it. */
  readonly unreadBytes: number;
  /** @param reason at most 123 bytes */
  end(code: number, reason: string): void;
}

/** What becomes of a WebSocket. */
export interface SocketHandler {
  opened(socket: Socket): void;
  /** `bytes` are the socket's until this returns. */
  message(bytes: Uint8Array, isBinary: boolean): void;
  /** The last call; also after `Socket.end`. */
  closed(): void;
}
