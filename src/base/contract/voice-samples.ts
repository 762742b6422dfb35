// SPDX-License-Identifier: Apache-2.0
//
// An enrolment's answer on its several samples, in addition to the voiceprint.
import type { BodyOf } from './schema.js';
import { enrollmentProperties, exampleEmbedding } from './voice-identity.js';

const sampleReport = {
  title: 'SampleReport',
  type: 'object',
  properties: {
    index: { type: 'integer', description: 'Position among the samples, from 0 on.', minimum: 0 },
    accepted: { type: 'boolean', description: 'Whether the sample is part of the voiceprint.' },
    reason: {
      type: ['string', 'null'],
      description:
        'Why it is not: `too_short`, `ai_generated`, or `disagrees` if it sounds like another speaker than the other samples.',
      enum: ['too_short', 'ai_generated', 'disagrees', null],
    },
    duration: {
      type: ['number', 'null'],
      description: 'Seconds of audio; null if it is too short to be analysed.',
      minimum: 0,
    },
    speech: { type: ['number', 'null'], description: 'Seconds of speech in it.', minimum: 0 },
    snr_db: {
      type: ['number', 'null'],
      description:
        'How far the loudest speech is above the quietest, in dB; below 18 it is noisy. Null with less than 1 s of speech.',
    },
    agreement: {
      type: ['number', 'null'],
      description:
        'Cosine with the mean of the other accepted samples; null if there are none, or if it was not compared.',
      minimum: -1,
      maximum: 1,
    },
  },
  required: ['index', 'accepted', 'reason', 'duration', 'speech', 'snr_db', 'agreement'],
  additionalProperties: false,
} as const;

const enrollmentQuality = {
  title: 'EnrollmentQuality',
  type: 'object',
  properties: {
    rating: {
      type: 'string',
      description: '`good` without shortcomings, `fair` with one, `poor` with more.',
      enum: ['good', 'fair', 'poor'],
    },
    shortcomings: {
      type: 'array',
      description: 'Shortcomings that further samples could remedy.',
      items: { type: 'string', enum: ['little_speech', 'few_samples', 'noisy', 'low_agreement'] },
    },
    speech: { type: 'number', description: 'Seconds of speech in the accepted samples.', minimum: 0 },
    agreement: {
      type: ['number', 'null'],
      description: 'The lowest agreement of an accepted sample; null if only one is accepted.',
      minimum: -1,
      maximum: 1,
    },
  },
  required: ['rating', 'shortcomings', 'speech', 'agreement'],
  additionalProperties: false,
} as const;

/** The answer of `POST /v1/voiceid/enroll-samples` (docs/voiceid.md#several-samples). */
export const sampleEnrollment = {
  title: 'SampleEnrollment',
  type: 'object',
  properties: {
    ...enrollmentProperties,
    samples: { type: 'array', description: 'The rating of each sample.', items: sampleReport, minItems: 1 },
    quality: enrollmentQuality,
  },
  required: ['embedding', 'processing_time', 'model_version', 'deepfake_checked', 'samples', 'quality'],
  additionalProperties: false,
  examples: [
    {
      embedding: exampleEmbedding,
      processing_time: 0.74,
      model_version: 'voiceprint-1-2026-11-22',
      deepfake_checked: true,
      samples: [
        { index: 0, accepted: true, reason: null, duration: 8.2, speech: 6.1, snr_db: 34.5, agreement: null },
        {
          index: 1,
          accepted: false,
          reason: 'ai_generated',
          duration: 9,
          speech: 7.4,
          snr_db: 31.2,
          agreement: null,
        },
      ],
      quality: {
        rating: 'poor',
        shortcomings: ['little_speech', 'few_samples'],
        speech: 6.1,
        agreement: null,
      },
    },
  ],
} as const;

export type SampleEnrollment = BodyOf<typeof sampleEnrollment>;
export type SampleReport = BodyOf<typeof sampleReport>;
export type EnrollmentQuality = BodyOf<typeof enrollmentQuality>;
