// SPDX-License-Identifier: Apache-2.0
import type { BodyOf, Schema } from '../../base/contract/schema.js';

const bins = {
  type: 'array',
  items: { type: 'integer' },
  description: 'Numbers of scores per bin: below the first edge, between edges, from the last edge on.',
} as const;

const histograms = {
  files: { type: 'integer', description: 'Analysed files, recordings and streams with speech.' },
  windows: { type: 'integer' },
  file_bins: { ...bins, description: `Of files, each the mean of its windows. ${bins.description}` },
  window_bins: bins,
} as const;
const histogramNames = ['files', 'windows', 'file_bins', 'window_bins'] as const;

const stabilityIndex = {
  type: ['number', 'null'],
  description: 'Population stability index against the reference (docs/health.md); null with too few files.',
} as const;

/** The scores of one detector. */
const modelDrift = {
  title: 'ModelDrift',
  type: 'object',
  properties: {
    model: { type: 'string', description: "The detector's id." },
    reference: {
      type: ['object', 'null'],
      description: 'The distribution to compare with; null before the first score.',
      properties: {
        origin: {
          type: 'string',
          enum: ['first_files', 'chosen'],
          description: 'The first files that the model scored, or hours that an operator chose.',
        },
        complete: { type: 'boolean', description: 'False until it has enough files.' },
        made_at: { type: 'string', description: 'Time of its beginning or, if complete, of its completion.' },
        ...histograms,
      },
      required: ['origin', 'complete', 'made_at', ...histogramNames],
      additionalProperties: false,
    },
    current: {
      type: 'object',
      description: 'Scores of the last hours.',
      properties: histograms,
      required: histogramNames,
      additionalProperties: false,
    },
    hours: {
      type: 'array',
      description: 'The same by hour, the oldest first. Hours without scores are left out.',
      items: {
        type: 'object',
        properties: { begins_at: { type: 'string' }, ...histograms },
        required: ['begins_at', ...histogramNames],
        additionalProperties: false,
      },
    },
    file_index: stabilityIndex,
    window_index: stabilityIndex,
    reading: {
      type: 'string',
      enum: ['too_few', 'stable', 'moderate', 'large'],
      description:
        'Of the larger index: below 0.1 stable, below 0.25 moderate. `too_few`: too few files in the reference or in the last hours.',
    },
  },
  required: ['model', 'reference', 'current', 'hours', 'file_index', 'window_index', 'reading'],
  additionalProperties: false,
} as const satisfies Schema;

/** The answer of `GET /v1/admin/drift`. */
export const adminDrift = {
  title: 'AdminDrift',
  type: 'object',
  description: 'Distribution of the scores of each detector. Counts only, no audio.',
  properties: {
    logit_edges: {
      type: 'array',
      items: { type: 'number' },
      description: 'Of the bins, on the scale ln(score / (1 - score)).',
    },
    min_files: { type: 'integer', description: 'Files of the last hours that an index needs.' },
    reference_files: { type: 'integer', description: 'Files that a reference needs.' },
    models: { type: 'array', items: modelDrift },
  },
  required: ['logit_edges', 'min_files', 'reference_files', 'models'],
  additionalProperties: false,
  examples: [
    {
      logit_edges: [-1, 1],
      min_files: 300,
      reference_files: 500,
      models: [
        {
          model: 'detector-large-2026-11-25',
          reference: {
            origin: 'first_files',
            complete: true,
            made_at: '2026-11-20T08:14:02.000Z',
            files: 503,
            windows: 1190,
            file_bins: [438, 12, 53],
            window_bins: [1011, 51, 128],
          },
          current: { files: 320, windows: 760, file_bins: [270, 9, 41], window_bins: [640, 30, 90] },
          hours: [
            {
              begins_at: '2026-11-21T12:00:00.000Z',
              files: 320,
              windows: 760,
              file_bins: [270, 9, 41],
              window_bins: [640, 30, 90],
            },
          ],
          file_index: 0.004,
          window_index: 0.003,
          reading: 'stable',
        },
      ],
    },
  ],
} as const satisfies Schema;

/** The answer of `POST /v1/admin/drift/reference`. */
export const driftReference = {
  title: 'DriftReference',
  type: 'object',
  properties: {
    model: { type: 'string', description: "The detector's id." },
    files: { type: 'integer', description: 'Files in the new reference.' },
  },
  required: ['model', 'files'],
  additionalProperties: false,
  examples: [{ model: 'detector-large-2026-11-25', files: 812 }],
} as const satisfies Schema;

export type AdminDrift = BodyOf<typeof adminDrift>;
export type ModelDrift = BodyOf<typeof modelDrift>;
export type DriftReference = BodyOf<typeof driftReference>;
