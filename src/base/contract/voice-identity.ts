// SPDX-License-Identifier: Apache-2.0
import { modelVersion, processingTime } from './identifiers.js';
import { EMBEDDING_SIZE } from './limits.js';
import type { BodyOf } from './schema.js';

/** Of length 1, like all embeddings. */
export const exampleEmbedding = Array.from({ length: EMBEDDING_SIZE }, (_, i) =>
  i % 3 === 0 ? 0.0625 : -0.0625,
);

export const enrollmentProperties = {
  embedding: {
    type: 'array',
    description: 'The voiceprint: numbers with float32 precision.',
    items: { type: 'number', minimum: -1, maximum: 1 },
    minItems: EMBEDDING_SIZE,
    maxItems: EMBEDDING_SIZE,
  },
  processing_time: processingTime,
  model_version: modelVersion,
  deepfake_checked: {
    type: 'boolean',
    description: 'Whether the sample was checked for AI generation.',
  },
} as const;

/** The answer of `POST /v1/voiceid/enroll` (docs/api.md#enroll). */
export const enrollment = {
  title: 'Enrollment',
  type: 'object',
  properties: enrollmentProperties,
  required: ['embedding', 'processing_time', 'model_version', 'deepfake_checked'],
  additionalProperties: false,
  examples: [
    {
      embedding: exampleEmbedding,
      processing_time: 0.41,
      model_version: 'voiceprint-1-2026-11-22',
      deepfake_checked: true,
    },
  ],
} as const;

export type Enrollment = BodyOf<typeof enrollment>;

/** The answer of `POST /v1/voiceid/verify` (docs/api.md#verify). */
export const verification = {
  title: 'Verification',
  type: 'object',
  properties: {
    is_match: { type: 'boolean', description: 'Whether the sample matches the voiceprint.' },
    similarity_score: {
      type: 'number',
      description: 'Calibrated similarity, with six significant digits.',
      minimum: 0,
      maximum: 1,
    },
    confidence_score: {
      type: 'number',
      description: "Distance of the similarity from the model's operating point.",
      minimum: 0,
      maximum: 1,
    },
    processing_time: processingTime,
    model_version: modelVersion,
    deepfake_score: {
      type: ['number', 'null'],
      description: 'Null if the voice is authentic or was not checked.',
      minimum: 0,
      maximum: 1,
    },
  },
  required: [
    'is_match',
    'similarity_score',
    'confidence_score',
    'processing_time',
    'model_version',
    'deepfake_score',
  ],
  additionalProperties: false,
  examples: [
    {
      is_match: false,
      similarity_score: 0.486,
      confidence_score: 0.486,
      processing_time: 6.24,
      model_version: 'voiceprint-1-2026-11-22',
      deepfake_score: null,
    },
  ],
} as const;

export type Verification = BodyOf<typeof verification>;
