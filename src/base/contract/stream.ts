// SPDX-License-Identifier: Apache-2.0
//
// The messages of `GET /v1/stream`, one JSON object each. Audio goes in binary messages.
import { errorCodes } from '../errors/catalogue-entry.js';
import { audioDuration, correlationId, modelVersion, predictionId } from './identifiers.js';
import { prediction } from './prediction.js';
import type { BodyOf } from './schema.js';
import { streamEncodings } from './stream-fields.js';

/** Beginning of the names of all protocols that a client offers. */
export const STREAM_PROTOCOL = 'veravox.v1';
export const TICKET_PROTOCOL_PREFIX = 'veravox.ticket.';

const closed = { type: 'object', additionalProperties: false } as const;
const count = { type: 'integer', minimum: 0 } as const;
const seconds = { type: 'number', minimum: 0 } as const;
const { result, score, confidence } = prediction.properties.global.properties;
const session = {
  session_id: { type: 'string', description: 'Identifies the stream, also in the log.', maxLength: 64 },
  secret: { type: 'string', description: 'Proves that a later connection may go on.', maxLength: 64 },
} as const;

/** Messages of clients, in addition to audio and `start`, whose fields are parameters. */
export const resumeMessage = {
  ...closed,
  title: 'StreamResume',
  description: 'Goes on with a stream after its connection was lost.',
  required: ['type', 'session_id', 'secret', 'events'],
  properties: {
    type: { const: 'resume' },
    ...session,
    events: { ...count, description: 'Messages `window` and `skipped` that the client has.' },
  },
} as const;

export const endMessage = {
  ...closed,
  title: 'StreamEnd',
  description: 'The audio is over; the message `result` follows.',
  required: ['type'],
  properties: { type: { const: 'end' } },
} as const;

const readyMessage = {
  ...closed,
  title: 'StreamReady',
  description: 'The stream has begun.',
  required: [
    'type',
    'session_id',
    'secret',
    'resume_within_s',
    'max_waiting_s',
    'max_message_bytes',
    'prediction_id',
    'model',
    'model_id',
    'encoding',
    'sample_rate',
    'threshold',
    'silence_threshold',
    'warnings',
  ],
  properties: {
    type: { const: 'ready' },
    ...session,
    resume_within_s: { ...seconds, description: 'How long a lost connection may be away.' },
    max_waiting_s: {
      ...seconds,
      description: 'Audio that may be ahead of the analysis; more ends the stream.',
    },
    max_message_bytes: { ...count, description: 'Size of the largest binary message.' },
    prediction_id: predictionId,
    model: { type: 'string', description: 'The detector, as the request names it.' },
    model_id: modelVersion,
    encoding: { type: 'string', enum: streamEncodings },
    sample_rate: { ...count, description: 'Rate in which samples are counted.' },
    threshold: { type: 'number' },
    profile: { type: 'string', description: 'The profile that corrects scores; absent if none was named.' },
    silence_threshold: { type: 'number' },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'A sentence on each parameter without effect.',
    },
  },
} as const;

const receivedCounts = {
  samples: { ...count, description: 'Samples that have arrived.' },
  messages: { ...count, description: 'Binary messages that have arrived.' },
} as const;

const resumedMessage = {
  ...closed,
  title: 'StreamResumed',
  description: 'The stream goes on: the next binary message has the audio after what has arrived.',
  required: ['type', 'session_id', 'samples', 'messages'],
  properties: { type: { const: 'resumed' }, session_id: session.session_id, ...receivedCounts },
} as const;

const receivedMessage = {
  ...closed,
  title: 'StreamReceived',
  description: 'Sent about once per second of audio.',
  required: ['type', 'samples', 'messages', 'waiting_s'],
  properties: {
    type: { const: 'received' },
    ...receivedCounts,
    waiting_s: { ...seconds, description: 'Audio that has arrived and is not analysed yet.' },
  },
} as const;

const runningVerdict = {
  ...closed,
  title: 'StreamVerdict',
  description: 'The verdict on all windows so far.',
  required: ['score', 'confidence', 'result', 'windows'],
  properties: { score, confidence, result, windows: { ...count, description: 'Windows with a score.' } },
} as const;

export const windowMessage = {
  ...closed,
  title: 'StreamWindow',
  description: 'The verdict on a window, about 0.1 s of audio after its end.',
  required: ['type', 'event', 'start', 'end', 'scores', 'confidence', 'result', 'global'],
  properties: {
    type: { const: 'window' },
    event: { ...count, description: 'Number of the message among `window` and `skipped`, from 0.' },
    start: seconds,
    end: seconds,
    scores: { type: 'array', items: score, minItems: 1 },
    confidence,
    result,
    global: runningVerdict,
  },
} as const;

export const skippedMessage = {
  ...closed,
  title: 'StreamSkipped',
  description: 'A window without enough speech.',
  required: ['type', 'event', 'start', 'end', 'non_speech_percent'],
  properties: {
    type: { const: 'skipped' },
    event: windowMessage.properties.event,
    start: seconds,
    end: seconds,
    non_speech_percent: { type: 'number', minimum: 0, maximum: 100 },
  },
} as const;

const { prediction_id, global, model, profile, warnings, contains_generated, stretches } =
  prediction.properties;
export const resultMessage = {
  ...closed,
  title: 'StreamResult',
  description:
    'The verdict on the whole stream: that of a file with the same audio. The server then closes with 1000.',
  required: ['type', 'events', 'prediction_id', 'global', 'model', 'audio_duration', 'warnings'],
  properties: {
    type: { const: 'result' },
    events: { ...count, description: 'All messages `window` and `skipped`.' },
    prediction_id,
    global,
    model,
    profile,
    audio_duration: audioDuration,
    warnings,
    contains_generated,
    stretches,
  },
} as const;

export const streamErrorMessage = {
  ...closed,
  title: 'StreamError',
  description: 'Why the server ends the connection. It closes with 4000 plus `status`.',
  required: ['type', 'error', 'key', 'message', 'status', 'correlation_id'],
  properties: {
    type: { const: 'error' },
    error: { type: 'string', enum: errorCodes },
    key: { type: 'string', description: 'Line in errors.md.', pattern: '^[A-Z0-9_]{1,64}$' },
    message: { type: 'string', minLength: 1 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    retry_after_s: { ...seconds, description: 'When another try can help.' },
    correlation_id: correlationId,
  },
} as const;

export const serverMessages = [
  readyMessage,
  resumedMessage,
  receivedMessage,
  windowMessage,
  skippedMessage,
  resultMessage,
  streamErrorMessage,
] as const;

export type ResumeMessage = BodyOf<typeof resumeMessage>;
export type ReadyMessage = BodyOf<typeof readyMessage>;
export type ResumedMessage = BodyOf<typeof resumedMessage>;
export type ReceivedMessage = BodyOf<typeof receivedMessage>;
export type WindowMessage = BodyOf<typeof windowMessage>;
export type SkippedMessage = BodyOf<typeof skippedMessage>;
export type ResultMessage = BodyOf<typeof resultMessage>;
export type StreamErrorMessage = BodyOf<typeof streamErrorMessage>;
export type ServerMessage =
  | ReadyMessage
  | ResumedMessage
  | ReceivedMessage
  | WindowMessage
  | SkippedMessage
  | ResultMessage
  | StreamErrorMessage;
