// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../../analysis/analyser/analyser.js';
import {
  enrollmentBody,
  isAiGenerated,
  requireAuthentic,
  requireOwn,
  verificationBody,
} from '../../analysis/voiceid/answers.js';
import { chooseSpeaker, type Speaker } from '../../analysis/voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../../analysis/voiceid/voice-sample.js';
import { parseVoiceVector } from '../../analysis/voiceid/voice-vector.js';
import type { Config } from '../../base/config/options.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { FieldSchemas } from '../../base/contract/fields.js';
import { enrollNeeds, type SampleNeeds, verifyNeeds } from '../../base/contract/limits.js';
import { defaultModel } from '../../base/contract/model-ids.js';
import {
  COSINE_HEADER,
  enrollEndpoint,
  FLAG_HEADER,
  SAMPLE_FIELD,
  verifyEndpoint,
} from '../../base/contract/voice-endpoints.js';
import {
  type EnrollFields,
  enrollFieldSchemas,
  type VerifyFields,
  VOICE_VECTOR_FIELD,
  verifyFieldSchemas,
} from '../../base/contract/voice-fields.js';
import type { Enrollment, Verification } from '../../base/contract/voice-identity.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { answerInput, noteFindings } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { receiveFormInput } from './form-input.js';
import { type Headers, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

/** What the two routes ask of a sample, and what they make of it. */
interface Task<Fields, Checked> {
  readonly endpoint: Endpoint;
  readonly fieldSchemas: FieldSchemas;
  readonly needs: SampleNeeds;
  readonly checksAuthenticity: boolean;
  /** Called before the sample is looked at, so that a bad field costs nothing. */
  check(fields: Fields, speaker: Speaker): Checked;
  answer(sample: VoiceSample, checked: Checked, speaker: Speaker, processingS: number): Answer;
}

interface Answer {
  readonly body: Enrollment | Verification;
  readonly headers?: Headers;
}

/** What the routes are made of. */
interface VoiceParts {
  readonly config: Config;
  readonly analyser: Analyser;
  readonly queue: ArenaQueue;
  readonly points: OperatingPoints;
}

export const voiceRoutes = (parts: VoiceParts): readonly Route[] => [enrollRoute(parts), verifyRoute(parts)];

/** `POST /v1/voiceid/enroll`: turns a voice into a voiceprint, which only the caller keeps. */
function enrollRoute(parts: VoiceParts): Route {
  const policy = parts.config.enrollAuthenticity;
  return voiceRoute<EnrollFields, void>(parts, {
    endpoint: enrollEndpoint(parts.config),
    fieldSchemas: enrollFieldSchemas,
    needs: enrollNeeds,
    checksAuthenticity: policy !== 'skip',
    check() {},
    answer(sample, _, speaker, processingS) {
      if (policy === 'reject') requireAuthentic(sample);
      const body = enrollmentBody(sample, speaker, processingS);
      return isAiGenerated(sample)
        ? { body, headers: [[FLAG_HEADER, String(sample.deepfakeScore)]] }
        : { body };
    },
  });
}

/** `POST /v1/voiceid/verify`: is this the enrolled speaker, and a human voice? */
function verifyRoute(parts: VoiceParts): Route {
  return voiceRoute<VerifyFields, Float32Array>(parts, {
    endpoint: verifyEndpoint(parts.config),
    fieldSchemas: verifyFieldSchemas,
    needs: verifyNeeds,
    checksAuthenticity: true,
    check({ voice_vector }, speaker) {
      if (voice_vector === undefined) throw new ServiceError('FIELD_MISSING', { field: VOICE_VECTOR_FIELD });
      const enrolled = parseVoiceVector(voice_vector);
      requireOwn(enrolled, speaker);
      return enrolled;
    },
    answer(sample, enrolled, speaker, processingS) {
      requireAuthentic(sample);
      const comparison = speaker.compare(sample.voiceprint, enrolled);
      const body = verificationBody(comparison, speaker, processingS);
      return { body, headers: [[COSINE_HEADER, comparison.cosine.toFixed(6)]] };
    },
  });
}

function voiceRoute<Fields, Checked>(
  { config, analyser, queue, points }: VoiceParts,
  task: Task<Fields, Checked>,
): Route {
  const validator = new FieldValidator<Fields>({ schemas: task.fieldSchemas });
  const { detectors, speakerModels } = analyser.status();
  const speaker = chooseSpeaker(speakerModels, config, points);
  const allowedBytes = config.maxVoiceidBytes;
  const limits = {
    fileField: SAMPLE_FIELD,
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes, hint: '' }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };

  async function handle(request: RouteRequest): Promise<Reply> {
    if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
    const receiving = receiveFormInput(request, validator, queue, limits);
    return answerInput(request, receiving, async ({ fields, region }, elapsedS) => {
      const checked = task.check(fields, speaker);
      const sample = await readVoice(analyser, speaker, {
        region,
        detectorId: task.checksAuthenticity ? defaultModel(detectors) : undefined,
        ...task.needs,
        maxDurationS: config.maxVoiceidDurationS,
        signal: request.signal,
        owner: request.caller?.id ?? '',
      });
      noteFindings(request.record, { ...sample, model: speaker.modelId });
      const { body, headers = [] } = task.answer(sample, checked, speaker, elapsedS());
      return { ...jsonReply(200, body), headers };
    });
  }

  return { ...task.endpoint, takesTurn: true, handle };
}
