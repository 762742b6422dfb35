// SPDX-License-Identifier: Apache-2.0
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { analysisErrors, inputErrors, regionErrors } from './error-groups.js';
import { legacyPrediction } from './legacy-prediction.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MAX_LEGACY_FILE_BYTES,
  MIN_LARGE_FILE_BYTES,
  MIN_LEGACY_DURATION_S,
} from './limits.js';
import { withLink } from './link-field.js';
import { type DetectorNames, largeFileModels } from './model-ids.js';
import { anyFormat } from './operation.js';
import { largeFileFieldSchemas, legacyFieldSchemas, predictFieldSchemas } from './predict-fields.js';
import { largeFilePrediction, prediction } from './prediction.js';

/** The form field that holds the recording. */
export const FILE_FIELD = 'file';

/** @param detectors the available ones */
export const predictEndpoints = (
  settings: EndpointSettings,
  detectors: readonly DetectorNames[],
): readonly Endpoint[] => [
  predictEndpoint(settings, detectors),
  ...(largeFileModels(detectors).length > 0
    ? [
        largeFileEndpoint(settings, detectors),
        legacyPredictEndpoint('/v0/predict', settings),
        legacyPredictEndpoint('/predict', settings),
      ]
    : []),
];

/** Is the voice in this file AI-generated? @param detectors the detectors to choose from */
export function predictEndpoint(settings: EndpointSettings, detectors: readonly DetectorNames[]): Endpoint {
  const schemas = predictFieldSchemas(detectors);
  const example = {
    threshold: DEFAULT_THRESHOLD,
    silence_threshold: DEFAULT_SILENCE_THRESHOLD_PERCENT,
    device: 'api',
    prediction_id: 'call-4711',
  };
  return {
    method: 'POST',
    path: '/v1/predict',
    scope: 'predict',
    operation: {
      id: 'predict',
      tag: 'Detection',
      summary: 'Is the voice in this recording AI-generated?',
      description: `Takes ${anyFormat}, up to ${settings.maxPredictDurationS} s long. For a video, the first audio stream is analysed.`,
      form: {
        file: { field: FILE_FIELD, description: 'The recording.', maxBytes: settings.maxPredictBytes },
        title: 'PredictFields',
        schemas,
        example,
      },
      json: withLink({ schemas, example }),
      answers: { 200: { description: 'The verdict.', schema: prediction } },
      errors: [...inputErrors, 'FILE_TOO_LARGE', ...regionErrors, 'CHANNELS_TOO_MANY', 'NO_SPEECH'],
    },
  };
}

/** The same question for hours of audio. */
export function largeFileEndpoint(settings: EndpointSettings, detectors: readonly DetectorNames[]): Endpoint {
  const schemas = largeFileFieldSchemas(detectors);
  const example = { device: 'api', prediction_id: 'day-4711', filename: 'recording.wav' };
  return {
    method: 'POST',
    path: '/v1/predict/large-file',
    scope: 'predict',
    operation: {
      id: 'predictLargeFile',
      tag: 'Detection',
      summary: 'The same for large files with hours of audio.',
      description: `Takes ${anyFormat}, up to ${settings.maxLargeFileDurationS} s long.`,
      form: {
        file: {
          field: FILE_FIELD,
          description: 'The recording.',
          minBytes: MIN_LARGE_FILE_BYTES,
          maxBytes: settings.maxLargeFileBytes,
        },
        title: 'LargeFileFields',
        schemas,
        example,
      },
      json: withLink({ schemas, example }),
      answers: { 200: { description: 'The verdict.', schema: largeFilePrediction } },
      errors: [
        ...inputErrors,
        'FILE_TOO_SMALL',
        'FILE_TOO_LARGE',
        ...regionErrors,
        'CHANNELS_TOO_MANY',
        'NO_SPEECH',
      ],
    },
  };
}

/** v0's question, at `/v0/predict` and under the unversioned base. */
export function legacyPredictEndpoint(path: string, settings: EndpointSettings): Endpoint {
  const example = { user_id: 'anna' };
  return {
    method: 'POST',
    path,
    scope: 'predict',
    version: 'v0',
    operation: {
      id: 'predict',
      tag: 'Detection',
      summary: 'Is the voice in this recording AI-generated?',
      description: `Takes ${anyFormat}, ${MIN_LEGACY_DURATION_S} to ${settings.maxPredictDurationS} s long.`,
      form: {
        file: { field: FILE_FIELD, description: 'The recording.', maxBytes: MAX_LEGACY_FILE_BYTES },
        schemas: legacyFieldSchemas,
        example,
      },
      json: withLink({ schemas: legacyFieldSchemas, example }),
      answers: { 200: { description: 'The verdicts, one per chunk.', schema: legacyPrediction } },
      errors: [...inputErrors, 'FILE_TOO_LARGE_LEGACY', ...analysisErrors, 'NO_SPEECH'],
    },
  };
}
