// SPDX-License-Identifier: Apache-2.0
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { analysisErrors, formErrors, jsonErrors } from './error-groups.js';
import type { FieldSchemas, FieldValues } from './fields.js';
import { MAX_PROFILE_RECORDINGS, MIN_PROFILE_RECORDINGS } from './limits.js';
import type { DetectorNames } from './model-ids.js';
import { OPERATING_POINT_NAME, OPERATING_POINT_NAME_EXPECTED } from './operating-point-name.js';
import { anyFormat } from './operation.js';
import { anyModel } from './predict-fields.js';
import { deletedProfile, madeProfile, profile, profileList } from './profile.js';

/** The form field of genuine recordings, and that of AI-generated ones. */
export const GENUINE_FIELD = 'file';
export const GENERATED_FIELD = 'generated';

/** @param loaded the available detectors */
export const newProfileSchemas = (loaded: readonly DetectorNames[]) =>
  ({
    name: {
      type: 'string',
      maxLength: 32,
      pattern: OPERATING_POINT_NAME.source,
      expected: OPERATING_POINT_NAME_EXPECTED,
      description:
        'Its name in requests. If the model has a profile of this name, that one gets a new version.',
    },
    model: anyModel(loaded),
  }) as const satisfies FieldSchemas;

/** Models of stored profiles need not be loaded. */
const model = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  expected: 'a name of a detector',
  description:
    'The detector, by a name of the interface or by its exact id. By default the only one with such a profile, or else the default of `POST /v1/predict`.',
} as const;

const modelQuery = { schemas: { model }, example: {} };

export const versionChoice = {
  title: 'ProfileVersionFields',
  schemas: {
    version: {
      type: 'integer',
      minimum: 1,
      maximum: 999_999_999,
      expected: 'a whole number from 1 on',
      description: 'Number of the version.',
    },
    model,
  },
  required: ['version'],
  example: { version: 1 },
} as const;

export type NewProfileFields = FieldValues<ReturnType<typeof newProfileSchemas>, 'name'>;
export type ProfileQuery = FieldValues<typeof modelQuery.schemas>;
export type VersionChoice = FieldValues<typeof versionChoice.schemas, 'version'>;

const common = { scope: 'predict' } as const;
const one = {
  ...common,
  path: '/v1/profiles/',
  parameter: { name: 'name', description: 'Name of the profile.', example: 'studio' },
} as const;
const tag = 'Detection';

/** @param detectors the available ones */
export const profileEndpoints = (
  settings: EndpointSettings,
  detectors: readonly DetectorNames[],
): readonly Endpoint[] => [
  profileCreation(settings, detectors),
  profileListing,
  profileChange,
  profileLookup,
  profileDeletion,
];

export const profileCreation = (
  { maxPredictBytes, maxPredictDurationS, maxLargeFileBytes }: EndpointSettings,
  detectors: readonly DetectorNames[],
): Endpoint => ({
  ...common,
  method: 'POST',
  path: '/v1/profiles',
  operation: {
    id: 'makeProfile',
    tag,
    summary: 'Make a profile of your own channel, which corrects the scores of its recordings.',
    description:
      `Takes ${MIN_PROFILE_RECORDINGS} to ${MAX_PROFILE_RECORDINGS} genuine recordings as parts with the name \`${GENUINE_FIELD}\`, and up to ` +
      `${MAX_PROFILE_RECORDINGS} AI-generated ones, which must not pass as human, as \`${GENERATED_FIELD}\`: ${anyFormat}, at most ${maxPredictDurationS} s long each, ` +
      `together at most ${maxLargeFileBytes} bytes. Copies count once. The profile is saved if recordings left out show a gain at a low cost. No audio is kept.`,
    form: {
      title: 'NewProfileFields',
      file: {
        field: GENUINE_FIELD,
        description: 'Genuine recordings of the channel.',
        maxBytes: maxPredictBytes,
        files: { least: MIN_PROFILE_RECORDINGS, most: MAX_PROFILE_RECORDINGS },
      },
      otherFiles: {
        field: GENERATED_FIELD,
        description: 'AI-generated recordings of the channel.',
        maxBytes: maxPredictBytes,
        files: { least: 0, most: MAX_PROFILE_RECORDINGS },
      },
      schemas: newProfileSchemas(detectors),
      required: ['name'],
      example: { name: 'studio' },
    },
    answers: {
      201: {
        description: 'The profile, which requests may name from now on.',
        schema: madeProfile,
        headers: { location: 'Path of the profile.' },
      },
    },
    errors: [
      ...formErrors,
      'FIELD_INVALID',
      'FILE_TOO_LARGE',
      'BODY_TOO_LARGE',
      ...analysisErrors,
      'PROFILE_RECORDINGS_INSUFFICIENT',
      'RECORDING_REPEATED',
      'PROFILE_NOT_WORTHWHILE',
      'TOO_MANY_PROFILES',
      'DATABASE_UNAVAILABLE',
    ],
  },
});

export const profileListing: Endpoint = {
  ...common,
  method: 'GET',
  path: '/v1/profiles',
  operation: {
    id: 'listProfiles',
    tag,
    summary: 'List the profiles that the account may use.',
    answers: { 200: { description: 'The profiles.', schema: profileList } },
    errors: ['DATABASE_UNAVAILABLE'],
  },
};

const answersWithProfile = { 200: { description: 'The profile.', schema: profile } };

export const profileLookup: Endpoint = {
  ...one,
  method: 'GET',
  operation: {
    id: 'getProfile',
    tag,
    summary: 'A profile with its correction, its figures and its versions.',
    query: modelQuery,
    answers: answersWithProfile,
    errors: ['FIELD_INVALID', 'FIELD_REPEATED', 'PROFILE_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  },
};

export const profileDeletion: Endpoint = {
  ...one,
  method: 'DELETE',
  operation: {
    id: 'deleteProfile',
    tag,
    summary: "Delete a profile of the account's own, with all versions.",
    description:
      'For all detectors, unless `model` names one. From then on, requests with its name are refused.',
    query: {
      schemas: { model: { ...model, description: 'The only detector to delete it for.' } },
      example: {},
    },
    answers: { 200: { description: 'It is deleted.', schema: deletedProfile } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED', 'PROFILE_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  },
};

export const profileChange: Endpoint = {
  ...one,
  method: 'POST',
  path: '/v1/profiles/{name}/use',
  operation: {
    id: 'useProfileVersion',
    tag,
    summary: "Go back to an earlier version of a profile of the account's own, or forward again.",
    json: versionChoice,
    answers: answersWithProfile,
    errors: [...jsonErrors, 'FIELD_INVALID', 'PROFILE_NOT_FOUND', 'DATABASE_UNAVAILABLE'],
  },
};
