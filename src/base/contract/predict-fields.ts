// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from './fields.js';
import { predictionId as anyPredictionId } from './identifiers.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, DEFAULT_THRESHOLD } from './limits.js';
import { type DetectorNames, defaultModel, LARGE_FILE_MODEL, largeFileModels, namesOf } from './model-ids.js';
import { OPERATING_POINT_NAME, PROFILE_EXPECTED, THRESHOLD_EXPECTED } from './operating-point-name.js';
import { regionFieldSchemas } from './region-fields.js';

const devices = ['macos', 'windows', 'web_app', 'api'] as const;
const oneOf = (values: readonly string[]): string =>
  values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;

const device = {
  type: 'string',
  enum: devices,
  expected: oneOf(devices),
  description: 'The source of the recording.',
} as const;
export const predictionId = {
  ...anyPredictionId,
  maxLength: 128,
  expected: '1 to 128 of the characters A-Z a-z 0-9 . _ : -',
  description: "The client's own identifier for the prediction; the server makes one by default.",
} as const;

/** Never with a default. */
export const profile = {
  type: 'string',
  maxLength: 32,
  pattern: OPERATING_POINT_NAME.source,
  expected: PROFILE_EXPECTED,
  description:
    'The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.',
} as const;

/** Whether there are verdicts on single channels. */
const channels = {
  type: 'string',
  enum: ['mixed', 'separate'],
  default: 'mixed',
  expected: 'mixed or separate',
  description:
    'With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.',
} as const;

/** Further parts of the answer. */
export const detail = {
  type: 'string',
  enum: ['stretches'],
  expected: 'stretches',
  description:
    'With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).',
} as const;

/** All detectors by all of their names. */
export const anyModel = (loaded: readonly DetectorNames[]) =>
  ({
    type: 'string',
    enum: namesOf(loaded),
    default: defaultModel(loaded),
    expected: oneOf(namesOf(loaded)),
    description: 'The detector, by a name of the interface or by its exact id.',
  }) as const;

/**
 * The fields of every request for a verdict.
 * @param loaded the available detectors
 */
export function verdictFieldSchemas(loaded: readonly DetectorNames[]) {
  const names = namesOf(loaded);
  const others = names.filter((name) => name !== LARGE_FILE_MODEL);
  const models = others.length > 0 ? others : names;
  const detectors = loaded.filter(({ id }) => models.includes(id));
  return {
    device,
    model: {
      type: 'string',
      enum: models,
      default: defaultModel(detectors.length > 0 ? detectors : loaded),
      expected: oneOf(models),
      description: 'The detector, by a name of the interface or by its exact id.',
    },
    prediction_id: predictionId,
    /** A string is the name of an operating point. */
    threshold: {
      type: ['number', 'string'],
      minimum: 0,
      maximum: 1,
      maxLength: 32,
      pattern: OPERATING_POINT_NAME.source,
      default: DEFAULT_THRESHOLD,
      expected: THRESHOLD_EXPECTED,
      description:
        'Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. ' +
        "Can also be the name of an operating point that the server's operator made for the model.",
    },
    silence_threshold: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      default: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      expected: 'a number from 0 to 100',
      description: 'Windows with a higher percentage of non-speech are skipped; 100 skips none.',
    },
    profile,
    ...regionFieldSchemas,
  } as const satisfies FieldSchemas;
}

/** The fields of `POST /v1/predict` in addition to the file. @param loaded the available detectors */
export const predictFieldSchemas = (loaded: readonly DetectorNames[]) =>
  ({ ...verdictFieldSchemas(loaded), channels, detail }) as const satisfies FieldSchemas;

export type PredictFields = FieldValues<ReturnType<typeof predictFieldSchemas>>;

/** The fields of `POST /v1/predict/large-file`. */
export function largeFileFieldSchemas(loaded: readonly DetectorNames[]) {
  const models = largeFileModels(loaded);
  return {
    device,
    model: {
      type: 'string',
      enum: models,
      default: LARGE_FILE_MODEL,
      nullInForm: true,
      expected: oneOf(models),
      description: 'The detector. An empty value or null selects the default.',
    },
    prediction_id: predictionId,
    /** Never a path. */
    filename: {
      type: 'string',
      expected: 'a text',
      description: "The file's original name, for reference only.",
    },
    profile,
    ...regionFieldSchemas,
    channels,
    detail,
  } as const satisfies FieldSchemas;
}

export type LargeFileFields = FieldValues<ReturnType<typeof largeFileFieldSchemas>>;

/** The fields of v0's `POST /predict`. */
export const legacyFieldSchemas = {
  user_id: {
    type: 'string',
    expected: 'a text',
    description: "The client's own identifier for the speaker; it has no effect.",
  },
} as const satisfies FieldSchemas;

export type LegacyFields = FieldValues<typeof legacyFieldSchemas>;
