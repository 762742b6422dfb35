// SPDX-License-Identifier: Apache-2.0
import { deviceState, provider, readyState, wrongAnswer } from '../../base/contract/health.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';

const counts = { type: 'array', items: { type: 'integer' } } as const;
const countsByName = { type: 'object', additionalProperties: counts } as const;
const latencies = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      bucket: {
        type: 'integer',
        description: 'Index of its upper end in `bounds_ms`; one more for longer times.',
      },
      requests: counts,
    },
    required: ['bucket', 'requests'],
    additionalProperties: false,
  },
} as const;

/** The server's work over a stretch of time. */
const healthHistory = {
  title: 'HealthHistory',
  type: 'object',
  description:
    'Series of `points` numbers, one per step of `step_s` seconds from `from` on. Series of zeros are left out. The history is in memory, by seconds for an hour and by ten seconds for a day; a restart clears it.',
  properties: {
    from: { type: 'integer', description: 'Start of the first step, in seconds since 1970.' },
    step_s: { type: 'integer' },
    points: { type: 'integer' },
    processes: { type: 'integer', description: 'Processes of the server. Their numbers are added up.' },
    recorded_s: {
      ...counts,
      description:
        'Recorded seconds of each step, over all processes: fewer if the server did not run or was blocked.',
    },
    requests: {
      type: 'object',
      description:
        'Requests by subject and outcome: `ok`, `client_error` (4xx), `limited` (429 and 503), `failed` (other 5xx), `gone` (the client left).',
      additionalProperties: countsByName,
    },
    refusals: { ...countsByName, description: 'Errors by their key (docs/errors.md).' },
    latency: {
      type: 'object',
      description:
        'Durations of answered and failed requests, in two buckets per doubling. For the percentiles of a period, add its buckets up.',
      properties: {
        bounds_ms: { type: 'array', items: { type: 'number' }, description: 'Upper ends of the buckets.' },
        analysis: { ...latencies, description: 'Predictions and voice identity.' },
        other: { ...latencies, description: 'Jobs and links.' },
      },
      required: ['bounds_ms', 'analysis', 'other'],
      additionalProperties: false,
    },
    waits: {
      type: 'object',
      description: 'Number of analyses, and their total wait for a thread in ms.',
      properties: { requests: counts, total_ms: counts },
      required: ['requests', 'total_ms'],
      additionalProperties: false,
    },
    windows: { ...countsByName, description: 'Scored windows by model.' },
    gauges: {
      type: 'object',
      description:
        'The largest value in each step; null without a record. `jobs_queued` and `jobs_running` cover all hosts with the same database.',
      additionalProperties: { type: 'array', items: { type: ['integer', 'null'] } },
    },
  },
  required: [
    'from',
    'step_s',
    'points',
    'processes',
    'recorded_s',
    'requests',
    'refusals',
    'latency',
    'waits',
    'windows',
    'gauges',
  ],
  additionalProperties: false,
} as const satisfies Schema;

const loadedModel = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    task: { type: 'string', enum: ['detection', 'speaker'] },
    aliases: { type: 'array', items: { type: 'string' } },
    sha256: { type: 'string', description: "Of the model's file." },
  },
  required: ['id', 'task', 'aliases', 'sha256'],
  additionalProperties: false,
} as const;

/** The server at this moment. */
const serverState = {
  title: 'ServerState',
  type: 'object',
  properties: {
    version: { type: 'string' },
    state: readyState,
    uptime_s: { type: 'integer', description: 'Of the process that answers.' },
    ...provider,
    devices: { type: 'array', items: deviceState },
    models: { type: 'array', items: loadedModel },
    wrong_answers: {
      type: 'array',
      description: 'Known-answer checks that failed.',
      items: wrongAnswer,
    },
    database: {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['sqlite', 'postgres'] },
        state: { type: 'string', enum: ['up', 'unavailable', 'full', 'read_only'] },
      },
      required: ['kind', 'state'],
      additionalProperties: false,
    },
    storage: {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['data_folder', 'bucket'] },
        bucket: { type: ['string', 'null'] },
      },
      required: ['kind', 'bucket'],
      additionalProperties: false,
    },
    disk: {
      type: ['object', 'null'],
      description: 'Of the data folder; null if unknown.',
      properties: { free_bytes: { type: 'integer' }, total_bytes: { type: 'integer' } },
      required: ['free_bytes', 'total_bytes'],
      additionalProperties: false,
    },
    history_bytes: { type: 'integer', description: 'Memory for the history, in the process that answers.' },
    limits: {
      type: 'array',
      description: 'Settings that limit the load of the server (docs/configuration.md).',
      items: {
        type: 'object',
        properties: { setting: { type: 'string' }, value: { type: 'integer' } },
        required: ['setting', 'value'],
        additionalProperties: false,
      },
    },
  },
  required: [
    'version',
    'state',
    'uptime_s',
    'provider',
    'fallback_reason',
    'devices',
    'models',
    'wrong_answers',
    'database',
    'storage',
    'disk',
    'history_bytes',
    'limits',
  ],
  additionalProperties: false,
} as const satisfies Schema;

/** The answer of `GET /v1/admin/health`. */
export const adminHealth = {
  title: 'AdminHealth',
  type: 'object',
  properties: { now: serverState, history: healthHistory },
  required: ['now', 'history'],
  additionalProperties: false,
  examples: [
    {
      now: {
        version: '0.2.0',
        state: 'ready',
        uptime_s: 86_400,
        provider: 'cpu',
        fallback_reason: null,
        devices: [{ device: 'cpu', working: true, problem: null }],
        models: [
          {
            id: 'detector-large-2026-11-25',
            task: 'detection',
            aliases: ['apollo-4-5-2026-03-26'],
            sha256: '1'.repeat(64),
          },
        ],
        wrong_answers: [],
        database: { kind: 'sqlite', state: 'up' },
        storage: { kind: 'data_folder', bucket: null },
        disk: { free_bytes: 52_613_349_376, total_bytes: 105_226_698_752 },
        history_bytes: 2_888_640,
        limits: [{ setting: 'VERAVOX_MAX_INFLIGHT_REQUESTS', value: 1024 }],
      },
      history: {
        from: 1_763_726_400,
        step_s: 10,
        points: 3,
        processes: 1,
        recorded_s: [10, 10, 4],
        requests: { detection: { ok: [12, 9, 3], limited: [0, 1, 0] } },
        refusals: { OVERLOADED: [0, 1, 0] },
        latency: {
          bounds_ms: [1, 2, 4],
          analysis: [{ bucket: 2, requests: [12, 9, 3] }],
          other: [],
        },
        waits: { requests: [12, 9, 3], total_ms: [41, 230, 8] },
        windows: { 'detector-large-2026-11-25': [24, 18, 6] },
        gauges: { inputs_waiting: [2, 11, 1], rss_kib: [412_344, 415_160, 415_160] },
      },
    },
  ],
} as const satisfies Schema;

export type AdminHealth = BodyOf<typeof adminHealth>;
export type HealthHistory = BodyOf<typeof healthHistory>;
export type ServerState = BodyOf<typeof serverState>;
