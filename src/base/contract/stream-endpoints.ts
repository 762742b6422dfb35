// SPDX-License-Identifier: Apache-2.0
import type { Endpoint } from './endpoint.js';
import { analysisErrors } from './error-groups.js';
import type { BodyOf } from './schema.js';

export const streamTicket = {
  title: 'StreamTicket',
  type: 'object',
  properties: {
    ticket: {
      type: 'string',
      description:
        'Opens one stream: the name of a WebSocket protocol after `veravox.ticket.`, or the end of the path of a call.',
      minLength: 1,
    },
    expires_in_s: { type: 'integer', description: 'Seconds for which it can be used.', minimum: 1 },
  },
  required: ['ticket', 'expires_in_s'],
  additionalProperties: false,
  examples: [
    {
      ticket: '0123456789ab.1795737600000.cmFuZG9tYnl0ZXNz.k3NhPz5yV2a1uPpYw0cWmUoE7xq9LtR4sJdFgHbNvQA',
      expires_in_s: 60,
    },
  ],
} as const;

export type StreamTicket = BodyOf<typeof streamTicket>;

/** For web pages, whose WebSockets cannot send a key in a header. */
export const ticketEndpoint: Endpoint = {
  method: 'POST',
  path: '/v1/stream/tickets',
  scope: 'predict',
  operation: {
    id: 'createStreamTicket',
    tag: 'Detection',
    summary: 'A ticket that opens one stream of live audio: for web pages and telephony providers.',
    description:
      'A service that has the key asks for the ticket and hands it to the page. The messages of the WebSocket at `/v1/stream` are described in docs/stream.md, telephone calls at `/v1/stream/calls/TICKET` in docs/telephony.md.',
    answers: { 200: { description: 'The ticket.', schema: streamTicket } },
    errors: [],
  },
};

export const callEventsEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/stream/calls/{id}/events',
  parameter: {
    name: 'id',
    description: "The provider's id of the stream or the call.",
    example: 'MZ18ad3ab5a668481ce02b83e7395059f0',
  },
  scope: 'predict',
  operation: {
    id: 'followCall',
    tag: 'Detection',
    summary: 'Follow the verdicts on a telephone call.',
    description:
      'Server-sent events, described in docs/telephony.md: all kept ones at once or those after `last-event-id`, then each as it comes. The last one is `end`.',
    answers: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
    errors: ['CALL_UNKNOWN'],
  },
};

export const streamEndpoints: readonly Endpoint[] = [ticketEndpoint, callEventsEndpoint];

/** A WebSocket, which OpenAPI cannot describe: its messages are in stream.ts. */
export const streamEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/stream',
  scope: 'predict',
  operation: {
    id: 'stream',
    tag: 'Detection',
    summary: 'Live audio over a WebSocket.',
    answers: { 101: { description: 'The connection is a WebSocket from here on.' } },
    errors: [
      ...analysisErrors,
      'NO_SPEECH',
      'FIELD_INVALID',
      'JSON_MALFORMED',
      'JSON_LIMIT',
      'UPGRADE_REQUIRED',
      'ORIGIN_REFUSED',
      'STREAM_MESSAGE_INVALID',
      'STREAM_MESSAGE_TOO_LARGE',
      'STREAM_TOO_FAST',
      'STREAM_NOT_READ',
      'STREAM_IDLE',
      'STREAM_TOO_LONG',
      'STREAM_UNKNOWN',
      'STREAM_ELSEWHERE',
      'STREAM_TAKEN_OVER',
    ],
  },
};

/** A provider's WebSocket, which OpenAPI cannot describe either: see call.ts. */
export const callEndpoint: Endpoint = {
  ...streamEndpoint,
  path: '/v1/stream/calls/',
  parameter: {
    name: 'ticket',
    description: 'The ticket of the call.',
    example: streamTicket.examples[0].ticket,
  },
  operation: { ...streamEndpoint.operation, id: 'streamCall', summary: 'A telephone call over a WebSocket.' },
};
