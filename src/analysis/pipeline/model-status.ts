// SPDX-License-Identifier: Apache-2.0
import { answersTo, namesOf } from '../../base/contract/model-ids.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { DetectorStatus, PipelineStatus } from '../analyser/analyser.js';
import { fingerprintOf } from '../models/fingerprint.js';
import type { Model } from '../models/manifest.js';
import { scoreFingerprintOf } from '../models/score-fingerprint.js';

/**
 * The detector that a request means by this name, an id or an alias.
 * @throws ServiceError FIELD_INVALID if none is loaded under this name
 */
export function detectorNamed(
  { detectors }: Pick<PipelineStatus, 'detectors'>,
  name: string,
): DetectorStatus {
  const detector = detectors.find((candidate) => answersTo(candidate, name));
  if (detector !== undefined) return detector;
  const expected = `one of ${namesOf(detectors).join(', ')}`;
  throw new ServiceError('FIELD_INVALID', { field: 'model', expected, received: name });
}

/** The detector behind each alias: a reload may change it. */
export const aliasesOf = ({ detectors }: Pick<PipelineStatus, 'detectors'>): Record<string, string> =>
  Object.fromEntries(detectors.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])));

/** The models of a manifest that requests can use. */
export function modelStatus(
  models: readonly Model[],
): Pick<PipelineStatus, 'models' | 'detectors' | 'speakerModels'> {
  const detectors = models.filter((model) => model.task === 'detection');
  return {
    models: namesOf(detectors),
    detectors: detectors.map((model) => ({
      id: model.id,
      aliases: model.aliases,
      sha256: model.sha256,
      scoreFingerprint: scoreFingerprintOf(model),
      operatingPoint: model.operating_point,
    })),
    speakerModels: models
      .filter((model) => model.task === 'speaker')
      .map((model) => ({
        id: model.id,
        aliases: model.aliases,
        sha256: model.sha256,
        scoreFingerprint: scoreFingerprintOf(model),
        fingerprint: fingerprintOf(model),
        calibration: model.calibration,
        operatingPoint: model.operating_point,
        ...(model.strangers && { strangers: model.strangers }),
      })),
  };
}
