// SPDX-License-Identifier: Apache-2.0
import { STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX } from '../../base/contract/stream.js';
import type { SocketHandler } from '../streams/socket.js';
import type { HttpRequest, HttpResponse, SocketContext } from './uws.js';

/** Data that uWebSockets.js attaches to a WebSocket. */
export interface SocketData {
  readonly handler: SocketHandler;
}

const BEARER = /^bearer +(\S+)$/i;

/** A request to make a WebSocket of its connection (RFC 6455, section 4). Only while uWebSockets.js' handler runs. */
export class Handshake {
  readonly presented: { readonly key: string; readonly ticket: string };
  readonly #key: string;
  readonly #extensions: string;
  readonly #protocol: string;
  readonly #context: SocketContext;

  constructor(req: HttpRequest, context: SocketContext) {
    this.#key = req.getHeader('sec-websocket-key');
    this.#extensions = req.getHeader('sec-websocket-extensions');
    this.#context = context;
    const offered = req
      .getHeader('sec-websocket-protocol')
      .split(',')
      .map((name) => name.trim());
    // Browsers want one of the offered protocols. The one with the ticket must not come back: answers are logged more often.
    this.#protocol = offered.includes(STREAM_PROTOCOL) ? STREAM_PROTOCOL : '';
    const [, bearer = ''] = BEARER.exec(req.getHeader('authorization')) ?? [];
    const ticket = offered.find((name) => name.startsWith(TICKET_PROTOCOL_PREFIX)) ?? '';
    this.presented = { key: bearer, ticket: ticket.slice(TICKET_PROTOCOL_PREFIX.length) };
  }

  accept(res: HttpResponse, handler: SocketHandler): void {
    const data: SocketData = { handler };
    res.upgrade(data, this.#key, this.#protocol, this.#extensions, this.#context);
  }
}
