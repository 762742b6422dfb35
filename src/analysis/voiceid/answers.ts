// SPDX-License-Identifier: Apache-2.0
import type { Enrollment, Verification } from '../../base/contract/voice-identity.js';
import type { SampleEnrollment } from '../../base/contract/voice-samples.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { confidenceOf, rounded } from '../verdict/verdict.js';
import type { JoinedSamples } from './joined-samples.js';
import type { Comparison, Speaker } from './speaker.js';
import type { VoiceSample } from './voice-sample.js';
import { asJsonNumbers } from './voice-vector.js';

export function isAiGenerated(sample: VoiceSample): boolean {
  return sample.deepfakeScore !== undefined && sample.deepfakeScore >= sample.deepfakeThreshold;
}

/** @throws ServiceError AI_GENERATED_VOICE */
export function requireAuthentic(sample: VoiceSample): void {
  if (!isAiGenerated(sample)) return;
  const percent = ((sample.deepfakeScore as number) * 100).toFixed(1);
  throw new ServiceError('AI_GENERATED_VOICE', { percent });
}

/** @throws ServiceError VOICEPRINT_FOREIGN when another model made the vector */
export function requireOwn(vector: Float32Array, { space, modelId }: Speaker): void {
  if (!space.contains(vector)) throw new ServiceError('VOICEPRINT_FOREIGN', { model: modelId });
}

/** The body of an answer of `POST /v1/voiceid/enroll` (docs/api.md#enroll). */
export function enrollmentBody(sample: VoiceSample, { modelId }: Speaker, processingS: number): Enrollment {
  return {
    embedding: asJsonNumbers(sample.voiceprint),
    processing_time: rounded(processingS),
    model_version: modelId,
    deepfake_checked: sample.deepfakeScore !== undefined,
  };
}

/** The body of an answer of `POST /v1/voiceid/enroll-samples` (docs/voiceid.md#several-samples). */
export function joinedEnrollmentBody(
  { voiceprint, reports, quality, accepted }: JoinedSamples,
  { modelId }: Speaker,
  processingS: number,
): SampleEnrollment {
  return {
    embedding: asJsonNumbers(voiceprint),
    processing_time: rounded(processingS),
    model_version: modelId,
    deepfake_checked: accepted.every(({ deepfakeScore }) => deepfakeScore !== undefined),
    samples: reports,
    quality,
  };
}

/**
 * The body of an answer of `POST /v1/voiceid/verify` (docs/api.md#verify).
 * @param comparison with an authentic voice: an AI-generated one has no such answer
 */
export function verificationBody(
  { similarity }: Comparison,
  speaker: Speaker,
  processingS: number,
): Verification {
  return {
    is_match: similarity >= speaker.threshold,
    similarity_score: similarity,
    confidence_score: rounded(confidenceOf(similarity, speaker.threshold)),
    processing_time: rounded(processingS),
    model_version: speaker.modelId,
    deepfake_score: null,
  };
}
