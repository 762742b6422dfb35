// SPDX-License-Identifier: Apache-2.0
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { correctionFor } from '../../api/routes/profile-field.js';
import { regionOf } from '../../api/routes/region.js';
import { type ThresholdParts, thresholdOf } from '../../api/routes/threshold.js';
import type { PredictFields } from '../../base/contract/predict-fields.js';
import type { JobParameters } from '../queue/job-text.js';

/** The parameters of analyses in the background, with the threshold as a number. @throws ServiceError FIELD_INVALID */
export function analysisParameters(
  {
    model,
    threshold,
    silence_threshold,
    channels,
    profile,
    detail,
    ...region
  }: Omit<PredictFields, 'prediction_id' | 'device'>,
  parts: ThresholdParts,
  account: string,
): JobParameters {
  const correction = correctionFor({ profile, model }, parts, account);
  const isNamed = correction !== undefined || typeof threshold === 'string';
  const { id: modelId, scoreFingerprint } = detectorNamed(parts.analyser.status(), model);
  return {
    model,
    threshold: thresholdOf({ threshold, model }, parts),
    silenceThresholdPercent: silence_threshold,
    ...(correction && { profile, correction }),
    ...(isNamed && { boundTo: { modelId, scoreFingerprint } }),
    ...regionOf(region),
    ...(channels === 'separate' && { separatesChannels: true }),
    ...(detail && { detail }),
  };
}
