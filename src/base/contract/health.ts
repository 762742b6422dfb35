// SPDX-License-Identifier: Apache-2.0
import type { BodyOf } from './schema.js';

/** The answer of `GET /livez`. */
export const liveness = {
  title: 'Liveness',
  type: 'object',
  properties: { alive: { type: 'boolean', const: true } },
  required: ['alive'],
  additionalProperties: false,
  examples: [{ alive: true }],
} as const;

export type Liveness = BodyOf<typeof liveness>;

const numbers = { type: 'array', items: { type: 'number' } } as const;

export const wrongAnswer = {
  type: 'object',
  properties: {
    model: { type: 'string' },
    file: { type: 'string', description: 'The known clip.' },
    expected: {
      ...numbers,
      description: 'The scores of its windows, or the first values of its embedding.',
    },
    measured: { ...numbers, description: 'Empty if the model could not answer.' },
    tolerance: { type: 'number' },
    error: { type: ['string', 'null'], description: 'The reason if the model could not answer.' },
  },
  required: ['model', 'file', 'expected', 'measured', 'tolerance', 'error'],
  additionalProperties: false,
} as const;

export const deviceState = {
  type: 'object',
  properties: {
    device: { type: 'string', description: '`cpu`, `webgpu` or, for example, `cuda:0`.' },
    working: { type: 'boolean' },
    problem: {
      type: ['string', 'null'],
      description: 'Why a GPU was taken out. It is tried again by itself.',
    },
  },
  required: ['device', 'working', 'problem'],
  additionalProperties: false,
} as const;

export const readyState = {
  type: 'string',
  enum: ['starting', 'ready', 'wrong_answers', 'storage_unusable', 'not_writable', 'stopping'],
} as const;

/** The device that runs the models, and why it is not the requested one. */
export const provider = {
  provider: { type: 'string', description: 'Device that runs the models.', enum: ['cpu', 'cuda', 'webgpu'] },
  fallback_reason: {
    type: ['string', 'null'],
    description: 'Why the CPU runs the models although a GPU was requested.',
  },
} as const;

/** The answer of `GET /readyz`. */
export const readiness = {
  title: 'Readiness',
  type: 'object',
  description:
    'Everything except `ready` and `state` is for operators: at the admin address, or with a key that has the scope `admin`.',
  properties: {
    ready: { type: 'boolean' },
    state: readyState,
    version: { type: 'string' },
    commit: {
      type: 'string',
      description: 'The commit that was built; `unknown` if the build could not tell.',
    },
    ...provider,
    devices: {
      type: 'array',
      description: 'The GPUs and CPUs that run the models.',
      items: deviceState,
    },
    models: {
      type: 'array',
      description: 'The available detectors, under all of their names.',
      items: { type: 'string' },
    },
    aliases: {
      type: 'object',
      description: 'The exact id of the detector that answers to each alias.',
      additionalProperties: { type: 'string' },
    },
    speaker_models: {
      type: 'array',
      description: 'The models for voice identity.',
      items: { type: 'string' },
    },
    database: {
      type: 'string',
      description:
        'While it is unavailable, requests with known keys go on. If it has no room or can only be read, `state` is `not_writable`.',
      enum: ['up', 'unavailable', 'full', 'read_only'],
    },
    storage: {
      type: 'object',
      description:
        'The storage for files. While a bucket is `unavailable`, the server stays ready; if it is `missing`, the credentials are `refused`, or hosts with an `other_secret` use it, the status is 503.',
      properties: {
        state: { type: 'string', enum: ['up', 'unavailable', 'missing', 'refused', 'other_secret'] },
        problem: { type: ['string', 'null'], description: 'The error message of the storage.' },
      },
      required: ['state', 'problem'],
      additionalProperties: false,
    },
    wrong_answers: {
      type: 'array',
      description: 'Known-answer checks that failed. If this list is not empty, the status is 503.',
      items: wrongAnswer,
    },
  },
  required: ['ready', 'state'],
  additionalProperties: false,
  examples: [
    { ready: true, state: 'ready' },
    {
      ready: true,
      state: 'ready',
      version: '0.3.0',
      commit: 'c0cf2a0ad73c',
      provider: 'cpu',
      fallback_reason: null,
      devices: [{ device: 'cpu', working: true, problem: null }],
      models: ['apollo-4-5-2026-03-26', 'detector-large-2026-11-25'],
      aliases: { 'apollo-4-5-2026-03-26': 'detector-large-2026-11-25' },
      speaker_models: ['voiceprint-1-2026-11-22'],
      database: 'up',
      storage: { state: 'up', problem: null },
      wrong_answers: [],
    },
  ],
} as const;

export type Readiness = BodyOf<typeof readiness>;
