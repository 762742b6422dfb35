// SPDX-License-Identifier: Apache-2.0
import { modelVersion, processingTime } from './identifiers.js';
import type { BodyOf } from './schema.js';

const probability = (description: string) =>
  ({ type: 'number', description, minimum: 0, maximum: 1 }) as const;

/** One of the voiceprints that are most alike. */
const identificationMatch = {
  title: 'IdentificationMatch',
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id in the list.', minLength: 1 },
    index: { type: 'integer', description: 'Position in the list, from 0 on.', minimum: 0 },
    cosine: { type: 'number', description: 'Cosine of the two voiceprints.', minimum: -1, maximum: 1 },
    similarity_score: probability('Calibrated similarity, as verify answers it.'),
    probability: probability('Probability that this is the speaker, given the whole list and `prior`.'),
    stranger_probability: {
      type: ['number', 'null'],
      description:
        'Probability that the best score of a stranger in a list of this length is at least as high; null if the model does not know.',
      minimum: 0,
      maximum: 1,
    },
    is_match: {
      type: 'boolean',
      description:
        "Whether the similarity is at or above the model's operating point and `stranger_probability` is at most 0.01.",
    },
  },
  required: ['id', 'index', 'cosine', 'similarity_score', 'probability', 'stranger_probability', 'is_match'],
  additionalProperties: false,
} as const;

/** The answer of `POST /v1/voiceid/search` (docs/voiceid.md#identify). */
export const identification = {
  title: 'Identification',
  type: 'object',
  properties: {
    matches: {
      type: 'array',
      description: 'The voiceprints that are most alike, the best first.',
      items: identificationMatch,
      minItems: 1,
    },
    unknown_probability: probability('Probability that the speaker is not on the list, given `prior`.'),
    stranger_similarity: {
      type: ['object', 'null'],
      description:
        'Best similarity that a stranger reaches in a list of this length: in half of the lists, and in one of a hundred.',
      properties: {
        median: probability('In half of them.'),
        one_in_100: probability('In one of a hundred.'),
      },
      required: ['median', 'one_in_100'],
      additionalProperties: false,
    },
    compared: { type: 'integer', description: 'Voiceprints in the list.', minimum: 1 },
    processing_time: processingTime,
    model_version: modelVersion,
    deepfake_score: { type: 'null', description: 'An AI-generated voice is answered with 403.' },
  },
  required: [
    'matches',
    'unknown_probability',
    'stranger_similarity',
    'compared',
    'processing_time',
    'model_version',
    'deepfake_score',
  ],
  additionalProperties: false,
  examples: [
    {
      matches: [
        {
          id: 'anna',
          index: 17,
          cosine: 0.91,
          similarity_score: 0.996,
          probability: 0.71,
          stranger_probability: 0.0007,
          is_match: true,
        },
      ],
      unknown_probability: 0.28,
      stranger_similarity: { median: 0.88, one_in_100: 0.983 },
      compared: 100,
      processing_time: 0.21,
      model_version: 'voiceprint-1-2026-11-22',
      deepfake_score: null,
    },
  ],
} as const;

export type Identification = BodyOf<typeof identification>;
