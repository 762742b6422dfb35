// SPDX-License-Identifier: Apache-2.0
import { regionOf } from '../../api/routes/region.js';
import { thresholdOf } from '../../api/routes/threshold.js';
import type { PredictFields } from '../../base/contract/predict-fields.js';
import type { JobParameters } from '../queue/job-text.js';

/** The parameters of analyses in the background, with the threshold as a number. @throws ServiceError FIELD_INVALID */
export function analysisParameters(
  {
    model,
    threshold,
    silence_threshold,
    channels,
    ...region
  }: Omit<PredictFields, 'prediction_id' | 'device'>,
  parts: Parameters<typeof thresholdOf>[1],
): JobParameters {
  return {
    model,
    threshold: thresholdOf({ threshold, model }, parts),
    silenceThresholdPercent: silence_threshold,
    ...regionOf(region),
    ...(channels === 'separate' && { separatesChannels: true }),
  };
}
