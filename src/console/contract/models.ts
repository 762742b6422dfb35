// SPDX-License-Identifier: Apache-2.0
import { deviceState } from '../../base/contract/health.js';
import { adminModelFigures } from '../../base/contract/model-figures.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { orNull } from '../../base/contract/schema-parts.js';

const share = (description: string) => ({ type: 'number', description, minimum: 0, maximum: 1 }) as const;
const text = (description: string) => ({ type: 'string', description }) as const;

const knownAnswer = {
  title: 'AdminKnownAnswer',
  type: 'object',
  properties: {
    file: text('The clip.'),
    expected: {
      type: 'array',
      items: { type: 'number' },
      description: 'The scores of its windows, or the first values of its embedding.',
    },
    tolerance: orNull('number', 'Largest difference of each number; null for the default.'),
    holds: {
      type: ['boolean', 'null'],
      description: 'Whether the model reproduced it when it was loaded; null if not tried.',
    },
  },
  required: ['file', 'expected', 'tolerance', 'holds'],
  additionalProperties: false,
} as const satisfies Schema;

const operatingPoint = {
  title: 'AdminOperatingPoint',
  type: 'object',
  properties: {
    name: text('As requests name it in `threshold`.'),
    threshold: share('The threshold that it stands for.'),
    usable: {
      type: 'boolean',
      description: 'False if it was found with other weights, another recipe or another calibration.',
    },
  },
  required: ['name', 'threshold', 'usable'],
  additionalProperties: false,
} as const satisfies Schema;

const abstention = {
  title: 'AdminAbstention',
  type: 'object',
  properties: {
    confidence_below: share('A global confidence below this gives the reason `uncertain`.'),
    error_bound: share(
      'Bound of the share of wrong verdicts among those without a reason, with 95 % confidence.',
    ),
    verdicts_given: share('Share of verdicts without a reason.'),
  },
  required: ['confidence_below', 'error_bound', 'verdicts_given'],
  additionalProperties: false,
} as const satisfies Schema;

const modelFile = {
  title: 'AdminModelFile',
  type: 'object',
  properties: {
    name: orNull('string', 'Its name in the folder of models.'),
    sha256: text('Its SHA-256.'),
    bytes: orNull('integer', 'Its size, including weights in a separate file; null if it is missing.'),
  },
  required: ['name', 'sha256', 'bytes'],
  additionalProperties: false,
} as const satisfies Schema;

const properties = {
  id: text('Exact id of the model.'),
  aliases: { type: 'array', items: { type: 'string' }, description: 'Other names that requests may use.' },
  task: { type: 'string', enum: ['detection', 'speaker'], description: 'Its task.' },
  file: modelFile,
  score_fingerprint: text('Hash of everything that its scores depend on.'),
  licence: orNull('string', 'Licence of the weights.'),
  window_s: orNull('number', 'Seconds of audio per input.'),
  calibration: {
    type: ['object', 'null'],
    description: 'Score = sigmoid(scale x + bias), of the log-odds or of the cosine.',
    properties: { scale: { type: 'number' }, bias: { type: 'number' } },
    required: ['scale', 'bias'],
    additionalProperties: false,
  },
  operating_point: share(
    'Voice identity refuses voices from this score on; or, for speaker models, the least similarity of a match.',
  ),
  operating_points: {
    type: 'array',
    items: operatingPoint,
    description: 'Named thresholds of `veravox calibrate`.',
  },
  abstention: {
    description: "When a detector's verdict is uncertain; null without such an entry.",
    anyOf: [abstention, { type: 'null' }],
  },
  known_answers: { type: 'array', items: knownAnswer, description: 'Clips with known scores.' },
  figures: adminModelFigures,
  has_card: { type: 'boolean', description: 'Whether `/v1/admin/models/{id}/card` answers.' },
} as const;

/** A served model. Facts of the manifest are null if it has changed since the model was loaded. */
const adminModel = {
  title: 'AdminModel',
  type: 'object',
  properties,
  required: [
    ...([
      'id',
      'aliases',
      'task',
      'file',
      'score_fingerprint',
      'licence',
      'window_s',
      'calibration',
    ] as const),
    ...([
      'operating_point',
      'operating_points',
      'abstention',
      'known_answers',
      'figures',
      'has_card',
    ] as const),
  ],
  additionalProperties: false,
} as const satisfies Schema;

const example = {
  id: 'detector-large-2026-11-25',
  aliases: ['apollo-4-5-2026-03-26'],
  task: 'detection',
  file: { name: 'detector-large-2026-11-25.onnx', sha256: 'b'.repeat(64), bytes: 1_176_087 },
  score_fingerprint: '8'.repeat(64),
  licence: 'Apache-2.0',
  window_s: 5,
  calibration: { scale: 1.312, bias: 0.6275 },
  operating_point: 0.692,
  operating_points: [],
  abstention: { confidence_below: 0.1, error_bound: 0.3125, verdicts_given: 0.8693 },
  known_answers: [
    { file: 'known-answers/human-lj-b.flac', expected: [0.08, 0.15], tolerance: 0.015, holds: true },
  ],
  figures: {
    measured_on: 'pages that training never saw',
    human_clips: 1065,
    generated_clips: 1439,
    eer: { value: 0.2357, interval_95: [0.1749, 0.304] },
    auc: { value: 0.842, interval_95: [0.7816, 0.8971] },
    eer_groups_alike: { value: 0.2024, interval_95: [0.1533, 0.2508] },
    thresholds: [
      {
        threshold: 0.5,
        target_fpr: null,
        fpr: { value: 0.2347, interval_95: [0.172, 0.295] },
        fnr: { value: 0.2363, interval_95: [0.148, 0.335] },
      },
    ],
    det: [{ threshold: 0.5, fpr: 0.2347, fnr: 0.2363 }],
    verification: null,
  },
  has_card: true,
} as const;

/** The answer of `GET /v1/admin/models`. */
export const adminModelList = {
  title: 'AdminModelList',
  type: 'object',
  properties: {
    provider: {
      type: 'string',
      description: 'Device that runs the models.',
      enum: ['cpu', 'cuda', 'webgpu'],
    },
    fallback_reason: orNull('string', 'Why the CPU runs the models although a GPU was requested.'),
    devices: { type: 'array', description: 'The GPUs and CPUs that run the models.', items: deviceState },
    models: {
      type: 'array',
      description: 'In the order of the manifest, detectors first.',
      items: adminModel,
    },
  },
  required: ['provider', 'fallback_reason', 'devices', 'models'],
  additionalProperties: false,
  examples: [
    {
      provider: 'cpu',
      fallback_reason: null,
      devices: [{ device: 'cpu', working: true, problem: null }],
      models: [example],
    },
  ],
} as const satisfies Schema;

export type AdminModel = BodyOf<typeof adminModel>;
export type AdminModelList = BodyOf<typeof adminModelList>;
