// SPDX-License-Identifier: Apache-2.0
import type { ScoreAdjustment } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { adjustmentOf } from '../../analysis/profiles/correction.js';
import type { ScoreCorrection } from '../../state/operating-points/profile.js';
import type { ThresholdParts } from './threshold.js';

interface ProfileFields {
  readonly profile?: string | undefined;
  readonly model: string;
}

/** The correction by the profile that a request names. @throws ServiceError FIELD_INVALID */
export function correctionFor(
  { profile, model }: ProfileFields,
  { analyser, points }: ThresholdParts,
  account: string | undefined,
): ScoreCorrection | undefined {
  if (profile === undefined) return undefined;
  const detector = detectorNamed(analyser.status(), model);
  return points.correctionOf(profile, detector, 'profile', account);
}

/** The same as a change of scores. @throws ServiceError FIELD_INVALID */
export function adjustmentFor(
  fields: ProfileFields,
  parts: ThresholdParts,
  account: string | undefined,
): ScoreAdjustment | undefined {
  const correction = correctionFor(fields, parts, account);
  return correction && adjustmentOf(correction);
}
