// SPDX-License-Identifier: Apache-2.0

/** One WebSocket, until it has ended. */
export interface Socket {
  send(text: string): void;
  /** Bytes that the client has not taken yet. */
  readonly unreadBytes: number;
  /** The client can still take everything that was sent. @param reason at most 123 bytes */
  end(code: number, reason: string): void;
  /** At once, with everything that the client has not taken. */
  cut(): void;
}

/** Receives the events of a WebSocket. */
export interface SocketHandler {
  opened(socket: Socket): void;
  /** `bytes` are the socket's until this returns. */
  message(bytes: Uint8Array, isBinary: boolean): void;
  /** A ping was answered, which adds to the unread bytes of a client that reads nothing. */
  pinged(): void;
  /** The last call; also after `Socket.end` and `Socket.cut`. */
  closed(): void;
}
