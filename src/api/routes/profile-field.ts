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

type BoundCorrection = ScoreCorrection & { readonly modelId: string };

/** The correction by the profile that a request names, and the detector that it is for. @throws ServiceError FIELD_INVALID */
export function boundCorrectionOf(
  { profile, model }: ProfileFields,
  { analyser, points }: ThresholdParts,
  account: string | undefined,
): BoundCorrection | undefined {
  if (profile === undefined) return undefined;
  const detector = detectorNamed(analyser.status(), model);
  return { ...points.correctionOf(profile, detector, 'profile', account), modelId: detector.id };
}

/** The same as a change of scores. @throws ServiceError FIELD_INVALID */
export function adjustmentFor(
  fields: ProfileFields,
  parts: ThresholdParts,
  account: string | undefined,
): ScoreAdjustment | undefined {
  const correction = boundCorrectionOf(fields, parts, account);
  return correction && adjustmentOf(correction);
}
