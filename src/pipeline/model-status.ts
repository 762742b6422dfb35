// SPDX-License-Identifier: Apache-2.0
import { fingerprintOf } from '../models/fingerprint.js';
import type { Model } from '../models/manifest.js';
import type { PipelineStatus } from './analysis.js';

/** What the models of a manifest offer to requests. */
export function modelStatus(models: readonly Model[]): Pick<PipelineStatus, 'models' | 'speakerModels'> {
  return {
    models: models
      .filter((model) => model.task === 'detection')
      .flatMap(({ id, aliases }) => [id, ...aliases]),
    speakerModels: models
      .filter((model) => model.task === 'speaker')
      .map((model) => ({
        id: model.id,
        fingerprint: fingerprintOf(model),
        calibration: model.calibration,
        operatingPoint: model.operating_point,
      })),
  };
}
