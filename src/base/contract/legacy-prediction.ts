// SPDX-License-Identifier: Apache-2.0
import { audioDuration, modelVersion, processingTime } from './identifiers.js';
import type { BodyOf } from './schema.js';

/** The answer of `POST /v0/predict` (docs/api.md#version-0). The three arrays are aligned, one entry per chunk. */
export const legacyPrediction = {
  title: 'LegacyPrediction',
  type: 'object',
  properties: {
    predictions: {
      type: 'array',
      description: '`fake` means AI-generated, `real` means human.',
      items: { type: 'string', enum: ['fake', 'real'] },
      minItems: 1,
    },
    global_probability: {
      type: 'array',
      description: 'Confidence in the label of the chunk.',
      items: { type: 'number', minimum: 0, maximum: 1 },
      minItems: 1,
    },
    error: {
      type: 'array',
      description: 'Null, or a sentence about why the chunk was not or not fully analysed.',
      items: { type: ['string', 'null'], minLength: 1 },
      minItems: 1,
    },
    model: modelVersion,
    processing_time: processingTime,
    audio_duration: audioDuration,
  },
  required: ['predictions', 'global_probability', 'error', 'model', 'processing_time', 'audio_duration'],
  additionalProperties: false,
  examples: [
    {
      predictions: ['fake', 'fake', 'real'],
      global_probability: [0.9584, 0.9585, 0.9123],
      error: [null, null, null],
      model: 'apollo-4-2025-10-20',
      processing_time: 1.35,
      audio_duration: 12.4,
    },
  ],
} as const;

export type LegacyPrediction = BodyOf<typeof legacyPrediction>;
