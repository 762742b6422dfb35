// SPDX-License-Identifier: Apache-2.0
//
// Profiles as `/v1/profiles` answers them (docs/profiles.md#over-http).
import { OPERATING_POINT_NAME } from './operating-point-name.js';
import type { BodyOf } from './schema.js';
import { failureProperties } from './schema-parts.js';

const share = { type: 'number', minimum: 0, maximum: 1 } as const;

const measuredErrors = {
  title: 'ProfileErrors',
  description: 'Wrong verdicts among all.',
  type: 'object',
  properties: {
    count: { type: 'integer', description: 'Wrong verdicts at threshold 0.5.', minimum: 0 },
    of: { type: 'integer', description: 'All verdicts.', minimum: 0 },
    value: { ...share, description: 'Their share.' },
    interval_95: {
      type: 'array',
      description: 'The 95 % Wilson interval of the share.',
      items: share,
      minItems: 2,
      maxItems: 2,
    },
  },
  required: ['count', 'of', 'value', 'interval_95'],
  additionalProperties: false,
} as const;

const effect = {
  type: 'object',
  properties: { without: measuredErrors, with: measuredErrors },
  required: ['without', 'with'],
  additionalProperties: false,
} as const;

const flagged = {
  title: 'ProfileGain',
  description: 'Genuine recordings called spoofed, each judged by a profile that was made without it.',
  ...effect,
} as const;

const passed = {
  title: 'ProfileCost',
  description: 'AI-generated speech called human.',
  ...effect,
} as const;

const versionProperties = {
  version: { type: 'integer', description: 'Number of the version, from 1 on.', minimum: 1 },
  usable: {
    type: 'boolean',
    description:
      'Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration.',
  },
  recordings: {
    title: 'ProfileRecordings',
    description: 'The recordings behind it.',
    type: 'object',
    properties: {
      genuine: { type: 'integer', description: 'Genuine recordings that made it.', minimum: 0 },
      generated: { type: 'integer', description: 'AI-generated recordings that tested it.', minimum: 0 },
    },
    required: ['genuine', 'generated'],
    additionalProperties: false,
  },
  measured: {
    title: 'ProfileMeasurement',
    description: 'Its gain and its cost: errors without it and with it.',
    type: 'object',
    properties: {
      flagged,
      passed,
      passed_own: {
        description: 'The same for the given AI-generated recordings; null without any.',
        anyOf: [passed, { type: 'null' }],
      },
    },
    required: ['flagged', 'passed', 'passed_own'],
    additionalProperties: false,
  },
  created_at: { type: 'string', format: 'date-time', description: 'Time at which the version was made.' },
} as const;

const versionRequired = ['version', 'usable', 'recordings', 'measured', 'created_at'] as const;

const summaryProperties = {
  name: { type: 'string', description: 'Its name in requests.', pattern: OPERATING_POINT_NAME.source },
  model: { type: 'string', description: 'Id of its detector.', minLength: 1 },
  shared: {
    type: 'boolean',
    description: "Whether it is the operator's, for all accounts, rather than the account's own.",
  },
  ...versionProperties,
} as const;

const summaryRequired = ['name', 'model', 'shared', ...versionRequired] as const;

const profileVersion = {
  title: 'ProfileVersion',
  type: 'object',
  properties: {
    ...versionProperties,
    in_use: { type: 'boolean', description: 'Whether requests that name the profile use this version.' },
  },
  required: [...versionRequired, 'in_use'],
  additionalProperties: false,
} as const;

const profileSummary = {
  title: 'ProfileSummary',
  type: 'object',
  properties: summaryProperties,
  required: summaryRequired,
  additionalProperties: false,
} as const;

const exampleErrors = (count: number, of: number, interval_95: readonly [number, number]) => ({
  count,
  of,
  value: count / of,
  interval_95,
});

const exampleSummary = {
  name: 'studio',
  model: 'detector-medium-2026-11-25',
  shared: false,
  version: 2,
  usable: true,
  recordings: { genuine: 20, generated: 0 },
  measured: {
    flagged: {
      without: exampleErrors(6, 20, [0.146, 0.519]),
      with: exampleErrors(1, 20, [0.009, 0.236]),
    },
    passed: {
      without: exampleErrors(32, 256, [0.09, 0.171]),
      with: exampleErrors(34, 256, [0.097, 0.18]),
    },
    passed_own: null,
  },
  created_at: '2026-11-27T12:00:00.000Z',
};

export const profileList = {
  title: 'ProfileList',
  type: 'object',
  properties: {
    profiles: {
      type: 'array',
      description:
        "The account's own profiles and those for all accounts, by name: the version in use of each.",
      items: profileSummary,
    },
  },
  required: ['profiles'],
  additionalProperties: false,
  examples: [{ profiles: [exampleSummary] }],
} as const;

const profileProperties = {
  ...summaryProperties,
  correction: {
    title: 'ProfileCorrection',
    type: 'object',
    description: 'Its effect on scores. Nothing else of the recordings is kept.',
    properties: {
      direction: {
        type: 'string',
        description: "A unit vector among the detector's: little-endian float32 in base64.",
        contentEncoding: 'base64',
      },
      from: { type: 'number', description: 'Place on it up to which scores stay as they are.' },
      to: { type: 'number', description: 'Place on it from which they fall by `strength`.' },
      strength: { type: 'number', description: 'In log-odds.', minimum: 0 },
    },
    required: ['direction', 'from', 'to', 'strength'],
    additionalProperties: false,
  },
  versions: {
    type: 'array',
    description: 'All versions that are kept, the latest first.',
    items: profileVersion,
    minItems: 1,
  },
} as const;

const profileRequired = [...summaryRequired, 'correction', 'versions'] as const;

const { name: _, model: __, shared: ___, ...exampleVersion } = exampleSummary;

const exampleProfile = {
  ...exampleSummary,
  correction: { direction: 'mpkZP83MTD8=', from: 0.41, to: 0.87, strength: 3.2 },
  versions: [{ ...exampleVersion, in_use: true }],
};

export const profile = {
  title: 'Profile',
  type: 'object',
  properties: profileProperties,
  required: profileRequired,
  additionalProperties: false,
  examples: [exampleProfile],
} as const;

export const madeProfile = {
  title: 'MadeProfile',
  type: 'object',
  properties: {
    ...profileProperties,
    left_out: {
      type: 'array',
      description:
        'Recordings that could not be analysed, have no speech, or repeat an earlier one of the field.',
      items: {
        title: 'LeftOutRecording',
        type: 'object',
        properties: {
          field: { type: 'string', enum: ['file', 'generated'] },
          index: {
            type: 'integer',
            description: 'Position among the files of the field, from 0 on.',
            minimum: 0,
          },
          ...failureProperties,
        },
        required: ['field', 'index', 'key', 'message'],
        additionalProperties: false,
      },
    },
  },
  required: [...profileRequired, 'left_out'],
  additionalProperties: false,
  examples: [{ ...exampleProfile, left_out: [] }],
} as const;

export const deletedProfile = {
  title: 'DeletedProfile',
  type: 'object',
  properties: { deleted: { type: 'string', description: 'Its name.', minLength: 1 } },
  required: ['deleted'],
  additionalProperties: false,
  examples: [{ deleted: 'studio' }],
} as const;

export type ProfileSummary = BodyOf<typeof profileSummary>;
export type ProfileVersionBody = BodyOf<typeof profileVersion>;
export type ProfileList = BodyOf<typeof profileList>;
export type ProfileBody = BodyOf<typeof profile>;
export type MadeProfile = BodyOf<typeof madeProfile>;
export type LeftOutRecording = MadeProfile['left_out'][number];
export type DeletedProfile = BodyOf<typeof deletedProfile>;
