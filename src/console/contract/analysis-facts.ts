// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';

const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

const detector = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Its exact id.' },
    aliases: texts('Other names that requests may give.'),
    uncertain_below: {
      type: ['number', 'null'],
      description: 'Verdicts with a lower confidence are `uncertain`; null if that is not known.',
    },
    operating_points: {
      type: 'array',
      description: 'Named thresholds for this model.',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, threshold: { type: 'number' } },
        required: ['name', 'threshold'],
        additionalProperties: false,
      },
    },
  },
  required: ['id', 'aliases', 'uncertain_below', 'operating_points'],
  additionalProperties: false,
} as const satisfies Schema;

/** The answer of `GET /v1/admin/analysis-facts`. */
const adminAnalysisFacts = {
  title: 'AdminAnalysisFacts',
  type: 'object',
  properties: {
    model_names: texts('Names that `model` may have in a request for a verdict.'),
    default_model: { type: 'string', description: 'The one without `model`.' },
    threshold: { type: 'number', description: 'The default of `threshold`.' },
    silence_threshold: { type: 'number', description: 'The default of `silence_threshold`.' },
    max_file_bytes: { type: 'integer', description: 'The largest file that `POST /v1/predict` takes.' },
    detectors: { type: 'array', description: 'The served detectors.', items: detector },
  },
  required: ['model_names', 'default_model', 'threshold', 'silence_threshold', 'max_file_bytes', 'detectors'],
  additionalProperties: false,
  examples: [
    {
      model_names: ['apollo-4-5-2026-03-26', 'detector-large-2026-11-25'],
      default_model: 'apollo-4-5-2026-03-26',
      threshold: 0.5,
      silence_threshold: 80,
      max_file_bytes: 20_971_520,
      detectors: [
        {
          id: 'detector-large-2026-11-25',
          aliases: ['apollo-4-5-2026-03-26'],
          uncertain_below: 0.15,
          operating_points: [{ name: 'fpr-1', threshold: 0.7 }],
        },
      ],
    },
  ],
} as const satisfies Schema;

export type AdminAnalysisFacts = BodyOf<typeof adminAnalysisFacts>;

export const analysisFactsLookup: AdminEndpoint = {
  method: 'GET',
  path: '/v1/admin/analysis-facts',
  role: 'viewer',
  operation: {
    id: 'getAdminAnalysisFacts',
    tag: 'Admin',
    summary: 'Models, defaults and limits of requests for a verdict.',
    answers: { 200: { description: 'Models, defaults and limits.', schema: adminAnalysisFacts } },
    errors: [],
  },
};
