// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { regionOf } from '../../api/routes/region.js';
import type { PredictFields } from '../../base/contract/predict-fields.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { JobParameters } from '../queue/job-text.js';

/** The parameters of analyses in the background, with the threshold as a number. @throws ServiceError FIELD_INVALID */
export function analysisParameters(
  {
    model,
    threshold,
    silence_threshold,
    channels,
    detail,
    ...region
  }: Omit<PredictFields, 'prediction_id' | 'device'>,
  { analyser, points }: { readonly analyser: Pick<Analyser, 'status'>; readonly points: OperatingPoints },
): JobParameters {
  return {
    model,
    threshold: points.thresholdOf(threshold, detectorNamed(analyser.status(), model), 'threshold'),
    silenceThresholdPercent: silence_threshold,
    ...regionOf(region),
    ...(channels === 'separate' && { separatesChannels: true }),
    ...(detail && { detail }),
  };
}
