// SPDX-License-Identifier: Apache-2.0
//
// The messages of a telephone call: those of the provider, and the events for its followers.
import type { BodyOf } from './schema.js';
import { resultMessage, skippedMessage, streamErrorMessage, windowMessage } from './stream.js';

export const legNames = ['inbound', 'outbound'] as const;
export type LegName = (typeof legNames)[number];

/** Names of the encodings at the providers. */
export const telephoneEncodings = {
  'audio/x-mulaw': 'mulaw',
  'audio/x-alaw': 'alaw',
  PCMU: 'mulaw',
  PCMA: 'alaw',
} as const;

/** Parameters of both legs: those of a stream without its format, which the provider gives. */
export const callParameters: readonly string[] = [
  'model',
  'prediction_id',
  'threshold',
  'silence_threshold',
  'profile',
  'detail',
];

const id = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** As Twilio writes it; other spellings are translated before. Providers add fields of their own. */
export const callStartMessage = {
  title: 'MediaStreamStart',
  type: 'object',
  required: ['event', 'streamSid', 'start'],
  properties: {
    event: { const: 'start' },
    streamSid: id,
    start: {
      type: 'object',
      required: ['mediaFormat'],
      properties: {
        callSid: id,
        customParameters: { type: 'object', additionalProperties: { type: 'string' } },
        mediaFormat: {
          type: 'object',
          required: ['encoding', 'sampleRate'],
          properties: {
            encoding: { type: 'string', enum: Object.keys(telephoneEncodings) },
            sampleRate: { enum: [8000, '8000'] },
            channels: { enum: [1, '1'] },
          },
        },
      },
    },
  },
} as const;

export const callMediaMessage = {
  title: 'MediaStreamMedia',
  type: 'object',
  required: ['event', 'media'],
  properties: {
    event: { const: 'media' },
    media: {
      type: 'object',
      required: ['timestamp', 'payload'],
      properties: {
        track: { type: 'string', enum: legNames },
        timestamp: {
          anyOf: [
            { type: 'integer', minimum: 0, maximum: 1e12 },
            { type: 'string', pattern: '^[0-9]{1,12}$' },
          ],
        },
        payload: {
          type: 'string',
          minLength: 4,
          pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
        },
      },
    },
  },
} as const;

const leg = {
  type: 'string',
  enum: legNames,
  description: '`inbound`: from the caller to the provider. `outbound`: the other way.',
} as const;

export const callWindow = {
  ...windowMessage,
  title: 'CallWindow',
  description: 'The verdict on a window of a leg. Times are those of the call.',
  required: [...windowMessage.required, 'leg'],
  properties: { ...windowMessage.properties, leg },
} as const;

export const callSkipped = {
  ...skippedMessage,
  title: 'CallSkipped',
  description: 'A window of a leg without enough speech.',
  required: [...skippedMessage.required, 'leg'],
  properties: { ...skippedMessage.properties, leg },
} as const;

export const callResult = {
  ...resultMessage,
  title: 'CallResult',
  description: 'The verdict on a whole leg.',
  required: [...resultMessage.required, 'leg'],
  properties: { ...resultMessage.properties, leg },
} as const;

export const callError = {
  ...streamErrorMessage,
  title: 'CallError',
  description: 'Why a leg has no result; without `leg`, the call.',
  properties: { ...streamErrorMessage.properties, leg },
} as const;

export const callEnd = {
  type: 'object',
  additionalProperties: false,
  title: 'CallEnd',
  description: 'The last event of a call.',
  required: ['type'],
  properties: { type: { const: 'end' } },
} as const;

export const callEvents = [callWindow, callSkipped, callResult, callError, callEnd] as const;
export type CallEvent =
  | BodyOf<typeof callWindow>
  | BodyOf<typeof callSkipped>
  | BodyOf<typeof callResult>
  | BodyOf<typeof callError>
  | BodyOf<typeof callEnd>;
