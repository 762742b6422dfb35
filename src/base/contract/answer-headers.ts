// SPDX-License-Identifier: Apache-2.0
import type { Schema } from './schema.js';

/** Traits that decide on an answer's headers, apart from those of its route. */
export interface AnswerTraits {
  readonly takesKey: boolean;
  /** Fields, parameters of a query, or a body read as such. */
  readonly takesFields: boolean;
  readonly isDeprecated: boolean;
  readonly isError: boolean;
  /** An error that tells when a retry makes sense. */
  readonly tellsWhen: boolean;
  /** A verdict, or another result of an analysis. */
  readonly isAnalysis: boolean;
}

interface AnswerHeader {
  /** In the OpenAPI document. */
  readonly title: string;
  readonly description: string;
  readonly schema: Pick<Schema, 'type'> & Readonly<Record<string, unknown>>;
  readonly isOn: (answer: AnswerTraits) => boolean;
}

const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;

/** The headers of answers that do not belong to one route. Pages in browsers may read them all. */
export const answerHeaders: Readonly<Record<string, AnswerHeader>> = {
  'x-correlation-id': {
    title: 'CorrelationId',
    description: 'Identifies the request, also in error bodies and in the log.',
    schema: { type: 'string', format: 'uuid' },
    isOn: () => true,
  },
  traceresponse: {
    title: 'TraceResponse',
    description:
      "The request's span, if the server has traces; in the form of `traceparent` (W3C Trace Context).",
    schema: text,
    isOn: () => true,
  },
  'x-warnings': {
    title: 'Warnings',
    description:
      'A JSON array of sentences on fields and query parameters without effect and, if the answer is about a voice, on parts of the recording that were not heard; absent without any. Predictions have them all in `warnings`.',
    schema: {
      type: 'string',
      examples: ['["The field treshold has no effect here. Did you mean threshold?"]'],
    },
    isOn: ({ takesFields }) => takesFields,
  },
  'x-error-key': {
    title: 'ErrorKey',
    description: 'Name of the error in docs/errors.md, more precise than its code.',
    schema: { type: 'string', examples: ['AUDIO_TOO_SHORT'] },
    isOn: ({ isError }) => isError,
  },
  'ratelimit-limit': {
    title: 'RateLimitLimit',
    description: 'Requests per window, if the key has a limit.',
    schema: count,
    isOn: ({ takesKey }) => takesKey,
  },
  'ratelimit-remaining': {
    title: 'RateLimitRemaining',
    description: 'Requests left in the window.',
    schema: count,
    isOn: ({ takesKey }) => takesKey,
  },
  'ratelimit-reset': {
    title: 'RateLimitReset',
    description: 'Seconds until the window ends.',
    schema: count,
    isOn: ({ takesKey }) => takesKey,
  },
  'retry-after': {
    title: 'RetryAfter',
    description: 'Seconds to wait before a retry.',
    schema: count,
    isOn: ({ tellsWhen }) => tellsWhen,
  },
  'x-model-ids': {
    title: 'ModelIds',
    description:
      'Exact ids of the models that answered, separated by commas: the detector, or the speaker model and the detector.',
    schema: { type: 'string', examples: ['detector-large-2026-11-25'] },
    isOn: ({ isAnalysis }) => isAnalysis,
  },
  'server-timing': {
    title: 'ServerTiming',
    description:
      'Wall time of each stage in milliseconds: receive, queue, decode, features, inference. The stages of longer files overlap.',
    schema: text,
    isOn: ({ isAnalysis }) => isAnalysis,
  },
  deprecation: {
    title: 'Deprecation',
    description: 'Date since which the route is deprecated (RFC 9745).',
    schema: text,
    isOn: ({ isDeprecated }) => isDeprecated,
  },
  sunset: {
    title: 'Sunset',
    description: 'Date on which the route will be removed (RFC 8594).',
    schema: text,
    isOn: ({ isDeprecated }) => isDeprecated,
  },
  link: {
    title: 'Link',
    description: 'The route that replaces it.',
    schema: text,
    isOn: ({ isDeprecated }) => isDeprecated,
  },
};
