// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';

export interface ThresholdParts {
  readonly analyser: Pick<Analyser, 'status'>;
  readonly points: OperatingPoints;
}

/** The threshold of a request, a number or a named operating point, as a number. @throws ServiceError FIELD_INVALID */
export function thresholdOf(
  { threshold, model }: { readonly threshold: number | string; readonly model: string },
  { analyser, points }: ThresholdParts,
): number {
  if (typeof threshold === 'number') return threshold;
  return points.thresholdOf(threshold, detectorNamed(analyser.status(), model), 'threshold');
}
