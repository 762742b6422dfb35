// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';
import type { DetectionModel } from '../models/manifest.js';

/** The detector that answered, as an analysis names it. */
export type AnsweringDetector = Pick<DetectionModel, 'id' | 'abstention'>;

export function uncertaintyOf({ abstention }: AnsweringDetector): Pick<Analysis, 'uncertainBelowConfidence'> {
  return abstention === undefined ? {} : { uncertainBelowConfidence: abstention.confidence_below };
}
