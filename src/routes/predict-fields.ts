// SPDX-License-Identifier: Apache-2.0
import { OPERATING_POINT_NAME } from '../config/operating-point-name.js';
import { THRESHOLD_EXPECTED } from '../operating-points/operating-points.js';
import type { FieldSchema, FieldSchemas } from './form-fields.js';

/** The fields of `POST /v1/predict` beside the file. */
export interface PredictFields {
  readonly device?: string;
  readonly model: string;
  readonly prediction_id?: string;
  /** A string is the name of an operating point. */
  readonly threshold: number | string;
  readonly silence_threshold: number;
}

/** Those of `POST /v1/predict/large-file`. */
export interface LargeFileFields {
  readonly device?: string;
  readonly model: string;
  readonly prediction_id?: string;
  /** For reference only: never a path. */
  readonly filename?: string;
}

const PREFERRED_MODEL = 'apollo-4-5-2026-03-26';
/** Serves `/v1/predict/large-file` and v0 only. */
export const LARGE_FILE_MODEL = 'apollo-4-2025-10-20';

/** Shorter audio is refused. */
export const MIN_DURATION_S = 1;
/** What holds where a request cannot say otherwise. */
export const DEFAULT_THRESHOLD = 0.5;
export const DEFAULT_SILENCE_THRESHOLD_PERCENT = 80;

const devices = ['macos', 'windows', 'web_app', 'api'];
const oneOf = (values: readonly string[]): string =>
  values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;

const device: FieldSchema = {
  type: 'string',
  enum: devices,
  expected: oneOf(devices),
  description: 'Where the recording comes from.',
};
const predictionId: FieldSchema = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  expected: '1 to 128 of the characters A-Z a-z 0-9 . _ : -',
  description: "The caller's own identifier of the prediction; one is made where there is none.",
};

/** The detector of requests that name none: the contract's, or the first where an operator runs others. */
export function defaultModel(loadedModels: readonly string[]): string {
  return loadedModels.includes(PREFERRED_MODEL) ? PREFERRED_MODEL : (loadedModels[0] as string);
}

/** @param loadedModels the ids of the detectors that can be asked for */
export function predictFieldSchemas(loadedModels: readonly string[]): FieldSchemas {
  const others = loadedModels.filter((id) => id !== LARGE_FILE_MODEL);
  const models = others.length > 0 ? others : loadedModels;
  return {
    device,
    model: {
      type: 'string',
      enum: models,
      default: defaultModel(models),
      expected: oneOf(models),
      description: 'The detector.',
    },
    prediction_id: predictionId,
    threshold: {
      type: ['number', 'string'],
      minimum: 0,
      maximum: 1,
      maxLength: 32,
      pattern: OPERATING_POINT_NAME.source,
      default: DEFAULT_THRESHOLD,
      expected: THRESHOLD_EXPECTED,
      description:
        'From which score a window is spoofed. A lower one finds more AI-generated voices, a higher one accuses fewer people. ' +
        "Or the name of an operating point that the server's operator has found for the model.",
    },
    silence_threshold: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      default: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      expected: 'a number from 0 to 100',
      description: 'Percent of non-speech above which a window is left out; 100 analyses every window.',
    },
  };
}

export const largeFileFieldSchemas: FieldSchemas = {
  device,
  model: {
    type: 'string',
    enum: [LARGE_FILE_MODEL],
    default: LARGE_FILE_MODEL,
    nullInForm: true,
    expected: LARGE_FILE_MODEL,
    description: 'The detector. An empty value and null are like none.',
  },
  prediction_id: predictionId,
  filename: {
    type: 'string',
    expected: 'a text',
    description: "The file's original name, for reference.",
  },
};
