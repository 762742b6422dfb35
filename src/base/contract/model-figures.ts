// SPDX-License-Identifier: Apache-2.0
import type { BodyOf, Schema } from './schema.js';

const share = (description: string) => ({ type: 'number', description, minimum: 0, maximum: 1 }) as const;
const count = (description: string) => ({ type: ['integer', 'null'], description, minimum: 0 }) as const;

const interval = {
  type: ['array', 'null'],
  items: { type: 'number', minimum: 0, maximum: 1 },
  minItems: 2,
  maxItems: 2,
  description: '95 % bootstrap interval over systems and sources; null if there are too few of them.',
} as const;

/** A share with its interval. */
const figureWithInterval = {
  title: 'AdminFigure',
  type: 'object',
  properties: { value: share('The figure.'), interval_95: interval },
  required: ['value', 'interval_95'],
  additionalProperties: false,
} as const satisfies Schema;

const figure = (description: string) =>
  ({ description, anyOf: [figureWithInterval, { type: 'null' }] }) as const;

/** Both error rates of a detector at a threshold. */
export const thresholdFigures = {
  title: 'AdminThreshold',
  type: 'object',
  properties: {
    threshold: share('Scores from here on are `spoofed`.'),
    target_fpr: {
      type: ['number', 'null'],
      description:
        'The share of false positives that it was fitted to on the same clips; null for a given threshold.',
      minimum: 0,
      maximum: 1,
    },
    fpr: figureWithInterval,
    fnr: figureWithInterval,
  },
  required: ['threshold', 'target_fpr', 'fpr', 'fnr'],
  additionalProperties: false,
} as const satisfies Schema;

/** A point of the detection error trade-off. */
export const detPoint = {
  title: 'AdminDetPoint',
  type: 'object',
  properties: {
    threshold: {
      type: ['number', 'null'],
      description: 'Its threshold; null if only the shape of the curve is known.',
    },
    fpr: share('Human clips called spoofed.'),
    fnr: share('AI-generated clips that pass.'),
  },
  required: ['threshold', 'fpr', 'fnr'],
  additionalProperties: false,
} as const satisfies Schema;

/** A speaker model on recordings of one kind. */
const verificationFigures = {
  title: 'AdminVerificationFigures',
  type: 'object',
  properties: {
    condition: { type: 'string', description: 'Kind of the recordings.' },
    test_speech_s: { type: 'number', description: 'Seconds of compared speech.' },
    eer: figureWithInterval,
    false_accepts: figure('Strangers accepted at the operating point.'),
    false_rejects: figure('The right speaker refused there.'),
  },
  required: ['condition', 'test_speech_s', 'eer', 'false_accepts', 'false_rejects'],
  additionalProperties: false,
} as const satisfies Schema;

/** The accuracy of a model, as far as its entry in the manifest and the file of its figures say. */
export const adminModelFigures = {
  title: 'AdminModelFigures',
  type: 'object',
  properties: {
    measured_on: { type: ['string', 'null'], description: 'The recordings; null if unknown.' },
    human_clips: count('Human clips among them.'),
    generated_clips: count('AI-generated clips among them.'),
    eer: figure('Equal error rate of a detector.'),
    auc: figure('Area under the ROC curve of a detector.'),
    eer_groups_alike: figure('Equal error rate with equal weight for every system and source.'),
    thresholds: {
      type: ['array', 'null'],
      description: 'Error rates at some thresholds, by `target_fpr` and threshold; null if unknown.',
      items: thresholdFigures,
    },
    det: {
      type: ['array', 'null'],
      description: 'The detection error trade-off by falling `fpr`; null if unknown.',
      items: detPoint,
    },
    verification: {
      type: ['array', 'null'],
      description: 'Of a speaker model; null for detectors, and if unknown.',
      items: verificationFigures,
    },
  },
  required: [
    ...(['measured_on', 'human_clips', 'generated_clips', 'eer', 'auc', 'eer_groups_alike'] as const),
    ...(['thresholds', 'det', 'verification'] as const),
  ],
  additionalProperties: false,
} as const satisfies Schema;

export type AdminFigure = BodyOf<typeof figureWithInterval>;
export type AdminVerificationFigures = BodyOf<typeof verificationFigures>;
export type AdminModelFigures = BodyOf<typeof adminModelFigures>;
