// SPDX-License-Identifier: Apache-2.0

import type { DetectorStatus } from '../analysis/analyser/analyser.js';
import { type Model, readManifest } from '../analysis/models/manifest.js';
import { detectorNamed, modelStatus } from '../analysis/pipeline/model-status.js';
import { defaultModel } from '../base/contract/model-ids.js';

interface LocalDetector {
  /** The name that the command gave, or that of the default. */
  readonly model: string;
  readonly detector: DetectorStatus;
  /** The detector's entry in the manifest alone: a command loads no other model. */
  readonly models: readonly Model[];
}

/** @throws ServiceError FIELD_INVALID if the folder has no detector with this id or alias */
export async function localDetector(modelsDir: string, name: string | undefined): Promise<LocalDetector> {
  const { models } = await readManifest(modelsDir);
  const offered = modelStatus(models);
  const model = name ?? defaultModel(offered.detectors);
  const detector = detectorNamed(offered, model);
  return { model, detector, models: models.filter(({ id }) => id === detector.id) };
}
