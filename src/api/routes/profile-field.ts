// SPDX-License-Identifier: Apache-2.0
import type { PipelineStatus, ScoreAdjustment } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { adjustmentOf } from '../../analysis/profiles/correction.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';

/** The correction by the profile that a request names. @throws ServiceError FIELD_INVALID */
export const adjustmentFor = (
  { profile, model }: { readonly profile?: string | undefined; readonly model: string },
  points: OperatingPoints,
  status: Pick<PipelineStatus, 'detectors'>,
): ScoreAdjustment | undefined =>
  profile === undefined
    ? undefined
    : adjustmentOf(points.correctionOf(profile, detectorNamed(status, model), 'profile'));
