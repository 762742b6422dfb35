// SPDX-License-Identifier: Apache-2.0
import { publicPath } from '../../base/config/public-path.js';
import { MAX_PROFILE_RECORDINGS } from '../../base/contract/limits.js';
import type { MadeProfile } from '../../base/contract/profile.js';
import {
  GENERATED_FIELD,
  GENUINE_FIELD,
  type NewProfileFields,
  newProfileSchemas,
  profileCreation,
} from '../../base/contract/profile-endpoints.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { FORM_OVERHEAD_BYTES, type FormLimits } from '../upload/form-upload.js';
import { answerInput } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { receiveFormInput } from './form-input.js';
import { holding } from './large-file-intake.js';
import { profileBody } from './profile-bodies.js';
import type { MakeProfileParts } from './profile-making.js';
import { jsonReply, type Route } from './route.js';

/** Fields besides the recordings, with room for some that have no effect. */
const FURTHER_PARTS = 16;

/** `POST /v1/profiles`: makes a profile of recordings, and saves it if it is worthwhile. */
export function makeProfileRoute(parts: MakeProfileParts): Route {
  const { config, analyser, queue, permits } = parts;
  const { maxPredictBytes, maxLargeFileBytes, largeFileReceiveTimeoutMs } = config;
  const { detectors } = analyser.status();
  const validator = new FieldValidator<NewProfileFields>({
    schemas: newProfileSchemas(detectors),
    required: ['name'],
  });
  const largestBodyBytes = maxLargeFileBytes + FORM_OVERHEAD_BYTES;
  const limits: FormLimits = {
    fileField: GENUINE_FIELD,
    maxFileBytes: maxPredictBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: maxPredictBytes, hint: '' }),
    otherFiles: { field: GENERATED_FIELD, maxFiles: MAX_PROFILE_RECORDINGS },
    whole: {
      maxParts: 2 * MAX_PROFILE_RECORDINGS + FURTHER_PARTS,
      maxBytes: largestBodyBytes,
      tooLarge: () => new ServiceError('BODY_TOO_LARGE', { allowedBytes: largestBodyBytes }),
    },
    receiveTimeoutMs: largeFileReceiveTimeoutMs,
  };
  return {
    ...profileCreation(config, detectors),
    async handle(request) {
      const { declaredBytes = largestBodyBytes } = request.body;
      const sizes = { declaredBytes, largestBytes: largestBodyBytes };
      const input = await holding(permits, request, sizes, () =>
        receiveFormInput(request, validator, queue, limits, MAX_PROFILE_RECORDINGS),
      );
      return answerInput(request, input, async () => {
        const { makeAndSave } = await import('./profile-making.js');
        const { versions, leftOut } = await makeAndSave(input, request, parts);
        const body: MadeProfile = {
          ...profileBody(versions, detectors, versions[0]?.model),
          left_out: leftOut,
        };
        const location = `${publicPath(config)}/v1/profiles/${body.name}`;
        return { ...jsonReply(201, body), headers: [['location', location]] };
      });
    },
  };
}
