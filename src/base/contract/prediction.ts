// SPDX-License-Identifier: Apache-2.0
import { audioDuration, modelVersion, predictionId, processingTime } from './identifiers.js';
import type { BodyOf } from './schema.js';

const confidence = {
  type: 'number',
  description: 'Distance of the score from the threshold, 0 to 1.',
  minimum: 0,
  maximum: 1,
} as const;

const score = {
  type: 'number',
  description: 'Probability of being AI-generated.',
  minimum: 0,
  maximum: 1,
} as const;

const result = {
  type: 'string',
  description: '`spoofed` means AI-generated, `bonafide` means human.',
  enum: ['spoofed', 'bonafide'],
} as const;

const reason = {
  type: ['string', 'null'],
  description: 'Null, or a code for why the verdict needs caution.',
  pattern: '^[a-z]+(_[a-z]+)*$',
} as const;

const start = { type: 'number', description: 'Start of the window in seconds.', minimum: 0 } as const;
const end = { type: 'number', description: 'End of the window in seconds.', exclusiveMinimum: 0 } as const;

/** The global verdict, as `POST /predict` answers it. */
const globalVerdict = {
  title: 'GlobalVerdict',
  type: 'object',
  properties: { score, confidence, result, reason },
  required: ['score', 'confidence', 'result', 'reason'],
  additionalProperties: false,
} as const;

/** The global verdict, as `POST /predict/large-file` answers it: without the raw score. */
const largeFileGlobalVerdict = {
  title: 'LargeFileGlobalVerdict',
  type: 'object',
  properties: { confidence, result, reason },
  required: ['confidence', 'result', 'reason'],
  additionalProperties: false,
} as const;

/** A segment, as `POST /predict` answers it: with `scores`, without `index`. */
const segment = {
  title: 'Segment',
  type: 'object',
  properties: {
    start,
    end,
    scores: { type: 'array', description: 'Scores of the window.', items: score, minItems: 1 },
    confidence,
    result,
  },
  required: ['start', 'end', 'scores', 'confidence', 'result'],
  additionalProperties: false,
} as const;

/** A segment, as `POST /predict/large-file` answers it: with `index`, without `scores`. */
const largeFileSegment = {
  title: 'LargeFileSegment',
  type: 'object',
  properties: {
    index: { type: 'integer', description: 'Zero-based position.', minimum: 0 },
    start,
    end,
    confidence,
    result,
  },
  required: ['index', 'start', 'end', 'confidence', 'result'],
  additionalProperties: false,
} as const;

const channelIndex = { type: 'integer', description: 'The channel, from 0 on.', minimum: 0 } as const;
const noVerdict = 'Null if no window of the channel had enough speech.';

const warnings = {
  type: 'array',
  description: 'One sentence per warning; empty if there are no warnings.',
  items: { type: 'string', minLength: 1 },
} as const;

const onRequest = 'Absent unless the request has `detail=stretches`.';

/** The places of AI-generated speech, in answers to requests for them. */
const found = {
  contains_generated: {
    type: 'boolean',
    description: `Whether there is AI-generated speech anywhere, be it one sentence. ${onRequest}`,
  },
  stretches: {
    type: 'array',
    description: `The stretches that sound AI-generated, in the order of the recording. ${onRequest}`,
    items: {
      title: 'Stretch',
      type: 'object',
      properties: {
        start: { type: 'number', description: 'Start of the stretch in seconds.', minimum: 0 },
        end: { type: 'number', description: 'End of the stretch in seconds.', exclusiveMinimum: 0 },
        score,
        strength: {
          type: ['number', 'null'],
          description:
            'How far it stands out from the rest of the recording, as a difference of log-odds; null for a recording that is AI-generated as a whole.',
        },
      },
      required: ['start', 'end', 'score', 'strength'],
      additionalProperties: false,
    },
  },
} as const;

const channelRules = {
  required: ['channel', 'global', 'segments', 'warnings'],
  additionalProperties: false,
} as const;

/** The verdict on one channel, as `POST /predict` answers it. */
const channelVerdict = {
  title: 'ChannelVerdict',
  type: 'object',
  properties: {
    channel: channelIndex,
    global: { description: noVerdict, anyOf: [globalVerdict, { type: 'null' }] },
    segments: { type: 'array', description: 'One entry per analysed window.', items: segment },
    warnings,
    ...found,
  },
  ...channelRules,
} as const;

/** The verdict on one channel, as `POST /predict/large-file` answers it. */
const largeFileChannelVerdict = {
  title: 'LargeFileChannelVerdict',
  type: 'object',
  properties: {
    channel: channelIndex,
    global: { description: noVerdict, anyOf: [largeFileGlobalVerdict, { type: 'null' }] },
    segments: { type: 'array', description: 'One entry per analysed window.', items: largeFileSegment },
    warnings,
    ...found,
  },
  ...channelRules,
} as const;

const measured = {
  model: modelVersion,
  profile: {
    type: 'string',
    description: 'The profile that corrected the scores; absent if the request named none.',
  },
  processing_time: processingTime,
  audio_duration: audioDuration,
  warnings,
} as const;

const required = [
  'prediction_id',
  'global',
  'segments',
  'model',
  'processing_time',
  'audio_duration',
  'warnings',
] as const;

/** The answer of `POST /v1/predict` (docs/api.md#read-a-verdict). */
export const prediction = {
  title: 'Prediction',
  type: 'object',
  properties: {
    prediction_id: predictionId,
    global: globalVerdict,
    segments: { type: 'array', description: 'One entry per analysed window.', items: segment, minItems: 1 },
    ...measured,
    channels: {
      type: 'array',
      description: 'The verdict on each channel; absent unless the request has `channels=separate`.',
      items: channelVerdict,
      minItems: 1,
    },
    ...found,
  },
  required,
  additionalProperties: false,
  examples: [
    {
      prediction_id: 'pred_9b6ff057a7f7',
      global: { score: 0.975, confidence: 0.95, result: 'spoofed', reason: null },
      segments: [
        { start: 0, end: 5, scores: [0.98], confidence: 0.96, result: 'spoofed' },
        { start: 5, end: 10, scores: [0.97], confidence: 0.94, result: 'spoofed' },
      ],
      model: 'apollo-4-2026-01-16',
      processing_time: 1.23,
      audio_duration: 10,
      warnings: [],
    },
  ],
} as const;

export type Prediction = BodyOf<typeof prediction>;

/** The answer of `POST /v1/predict/large-file` (docs/api.md#large-files). */
export const largeFilePrediction = {
  title: 'LargeFilePrediction',
  type: 'object',
  properties: {
    prediction_id: predictionId,
    global: largeFileGlobalVerdict,
    segments: {
      type: 'array',
      description: 'One entry per analysed window.',
      items: largeFileSegment,
      minItems: 1,
    },
    ...measured,
    channels: {
      type: 'array',
      description: 'The verdict on each channel; absent unless the request has `channels=separate`.',
      items: largeFileChannelVerdict,
      minItems: 1,
    },
    ...found,
  },
  required,
  additionalProperties: false,
  examples: [
    {
      prediction_id: 'pred_abc123def456',
      global: { confidence: 0.93, result: 'spoofed', reason: null },
      segments: [
        { index: 0, start: 0, end: 5, confidence: 0.95, result: 'spoofed' },
        { index: 1, start: 5, end: 10, confidence: 0.91, result: 'spoofed' },
      ],
      model: 'apollo-4-2025-10-20',
      processing_time: 32.54,
      audio_duration: 10,
      warnings: [],
    },
  ],
} as const;

export type LargeFilePrediction = BodyOf<typeof largeFilePrediction>;
