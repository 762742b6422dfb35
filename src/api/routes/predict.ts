// SPDX-License-Identifier: Apache-2.0
import type { Analyser, AnalysisRequest } from '../../analysis/analyser/analyser.js';
import { predictionBody } from '../../analysis/verdict/prediction.js';
import type { AudioRegion } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import { LARGE_FILE_MODEL } from '../../base/contract/model-ids.js';
import { FILE_FIELD, predictEndpoint } from '../../base/contract/predict-endpoints.js';
import { type PredictFields, predictFieldSchemas } from '../../base/contract/predict-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import { type FileIntake, type InputLimits, receiveInput } from './analysis-input.js';
import { analyseFile, answerInput, askedIn, warned } from './answer-analysis.js';
import { FieldValidator, resolvedReader } from './form-fields.js';
import { adjustmentFor } from './profile-field.js';
import { regionOf } from './region.js';
import { jsonReply, type Route } from './route.js';
import { thresholdOf } from './threshold.js';

/** With the threshold as a number. */
type ResolvedFields = Omit<PredictFields, 'threshold'> & {
  readonly threshold: number;
  readonly part: AudioRegion & Pick<AnalysisRequest, 'adjustScore'>;
};

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(
  config: Config,
  analyser: Analyser,
  intake: FileIntake,
  points: OperatingPoints,
): Route {
  const { models, detectors } = analyser.status();
  const validator = new FieldValidator<PredictFields>({ schemas: predictFieldSchemas(detectors) });
  const allowedBytes = config.maxPredictBytes;
  const hint = models.includes(LARGE_FILE_MODEL)
    ? 'POST /v1/predict/large-file takes larger ones, and POST /v1/jobs the largest'
    : undefined;
  const limits: InputLimits = {
    fileField: FILE_FIELD,
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes, hint: hint ? `${hint}.` : '' }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  /** Refuses invalid fields before anything is fetched or analysed. */
  const resolve = (fields: PredictFields, account: string | undefined): ResolvedFields => ({
    ...fields,
    threshold: thresholdOf(fields, { analyser, points }),
    part: { ...regionOf(fields), adjustScore: adjustmentFor(fields, { analyser, points }, account) },
  });
  return {
    ...predictEndpoint(config, detectors),
    takesTurn: true,
    async handle(request) {
      const reader = resolvedReader(validator, (fields) => resolve(fields, request.caller?.account));
      const input = await receiveInput(request, reader, intake, limits);
      return answerInput(request, input, async (elapsedS) => {
        const { silence_threshold: silenceThresholdPercent, ...fields } = input.fields;
        const { model, threshold } = fields;
        const plan = {
          region: input.region,
          model,
          silenceThresholdPercent,
          minDurationS: MIN_DURATION_S,
          maxDurationS: config.maxPredictDurationS,
          ...fields.part,
        };
        const { analysis, channels } = await analyseFile(request, analyser, plan, fields.channels);
        const asked = { ...askedIn(fields), model, threshold, silenceThresholdPercent, channels };
        return jsonReply(200, warned(predictionBody(analysis, asked, elapsedS()), request));
      });
    },
  };
}
