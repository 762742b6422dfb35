// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../analyser/analyser.js';
import type { Config } from '../config/options.js';
import { analysisErrors, formErrors } from '../contract/error-groups.js';
import type { FieldSchemas } from '../contract/fields.js';
import { enrollNeeds, type SampleNeeds, verifyNeeds } from '../contract/limits.js';
import { defaultModel } from '../contract/model-ids.js';
import { anyAudioFormat, type Fields as FormFields, type Operation } from '../contract/operation.js';
import {
  type EnrollFields,
  enrollFieldSchemas,
  type VerifyFields,
  VOICE_VECTOR_FIELD,
  verifyFieldSchemas,
} from '../contract/voice-fields.js';
import { enrollment, verification } from '../contract/voice-identity.js';
import { ServiceError } from '../errors/service-error.js';
import type { OperatingPoints } from '../operating-points/operating-points.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import {
  enrollmentBody,
  isAiGenerated,
  requireAuthentic,
  requireOwn,
  verificationBody,
} from '../voiceid/answers.js';
import { chooseSpeaker, type Speaker } from '../voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../voiceid/voice-sample.js';
import { parseVoiceVector } from '../voiceid/voice-vector.js';
import { noteFindings } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { receiveFormInput } from './form-input.js';
import { type Headers, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

const FILE_FIELD = 'audio_file';
/** On the answer to an enrolment that was accepted although the voice is AI-generated; its value is the score. */
export const FLAG_HEADER = 'x-deepfake-flagged';

/** What the two routes ask of a sample, and what they make of it. */
interface Task<Fields> {
  readonly path: string;
  readonly fieldSchemas: FieldSchemas;
  readonly documentation: Pick<Operation, 'id' | 'summary' | 'answers' | 'errors'> &
    Omit<FormFields, 'schemas'>;
  readonly needs: SampleNeeds;
  readonly checksAuthenticity: boolean;
  /** Called before the sample is looked at, so that a bad field costs nothing; returns how to answer. */
  begin(fields: Fields, speaker: Speaker): (sample: VoiceSample, processingS: number) => Answer;
}

interface Answer {
  readonly body: object;
  readonly headers?: Headers;
}

/** `POST /v1/voiceid/enroll`: turns a voice into a voiceprint, which only the caller keeps. */
export function enrollRoute(
  config: Config,
  analyser: Analyser,
  queue: ArenaQueue,
  points: OperatingPoints,
): Route {
  const policy = config.enrollAuthenticity;
  return voiceRoute<EnrollFields>(config, analyser, queue, points, {
    path: '/v1/voiceid/enroll',
    fieldSchemas: enrollFieldSchemas,
    documentation: {
      id: 'enroll',
      summary: 'Makes a voiceprint of a clean voice sample.',
      example: { user_id: 'anna' },
      answers: {
        200: {
          description: 'The voiceprint, which only the caller keeps.',
          schema: enrollment,
          headers: { [FLAG_HEADER]: 'The score, where an AI-generated voice was enrolled all the same.' },
        },
      },
      errors: [],
    },
    needs: enrollNeeds,
    checksAuthenticity: policy !== 'skip',
    begin: (_, speaker) => (sample, processingS) => {
      if (policy === 'reject') requireAuthentic(sample);
      const body = enrollmentBody(sample, speaker, processingS);
      return isAiGenerated(sample)
        ? { body, headers: [[FLAG_HEADER, String(sample.deepfakeScore)]] }
        : { body };
    },
  });
}

/** `POST /v1/voiceid/verify`: is this the enrolled speaker, and a human voice? */
export function verifyRoute(
  config: Config,
  analyser: Analyser,
  queue: ArenaQueue,
  points: OperatingPoints,
): Route {
  return voiceRoute<VerifyFields>(config, analyser, queue, points, {
    path: '/v1/voiceid/verify',
    fieldSchemas: verifyFieldSchemas,
    documentation: {
      id: 'verify',
      summary: 'Is this the enrolled speaker, and a human voice?',
      required: [VOICE_VECTOR_FIELD],
      example: { user_id: 'anna', [VOICE_VECTOR_FIELD]: '[-0.021,0.0175,...]' },
      answers: { 200: { description: 'Whether the voices match.', schema: verification } },
      errors: ['FIELD_MISSING', 'VOICEPRINT_FOREIGN'],
    },
    needs: verifyNeeds,
    checksAuthenticity: true,
    begin({ voice_vector }, speaker) {
      if (voice_vector === undefined) throw new ServiceError('FIELD_MISSING', { field: VOICE_VECTOR_FIELD });
      const enrolled = parseVoiceVector(voice_vector);
      requireOwn(enrolled, speaker);
      return (sample, processingS) => {
        requireAuthentic(sample);
        return { body: verificationBody(sample, enrolled, speaker, processingS) };
      };
    },
  });
}

function voiceRoute<Fields>(
  config: Config,
  analyser: Analyser,
  queue: ArenaQueue,
  points: OperatingPoints,
  task: Task<Fields>,
): Route {
  const validator = new FieldValidator<Fields>(task.fieldSchemas);
  const { models, speakerModels } = analyser.status();
  const speaker = chooseSpeaker(speakerModels, config, points);
  const limits = {
    fileField: FILE_FIELD,
    maxFileBytes: config.maxVoiceidBytes,
    fileTooLarge: () =>
      new ServiceError('FILE_TOO_LARGE', { allowedBytes: config.maxVoiceidBytes, hint: '' }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };

  async function handle(request: RouteRequest): Promise<Reply> {
    if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
    const { record } = request;
    const { fields, region, release } = await receiveFormInput(request, validator, queue, limits);
    try {
      request.beginTurn();
      const receivedMs = performance.now();
      const answer = task.begin(fields, speaker);
      const sample = await readVoice(analyser, speaker, {
        region,
        detectorId: task.checksAuthenticity ? defaultModel(models) : undefined,
        ...task.needs,
        maxDurationS: config.maxVoiceidDurationS,
        signal: request.signal,
        owner: request.caller?.id ?? '',
      });
      noteFindings(record, { ...sample, modelId: speaker.modelId });
      const { body, headers = [] } = answer(sample, (performance.now() - receivedMs) / 1000);
      return { ...jsonReply(200, body), headers };
    } finally {
      // Not earlier, even when the client has gone: a prepare thread may still be reading the file.
      release();
    }
  }

  const { id, summary, answers, errors, ...fields } = task.documentation;
  const operation: Operation = {
    id,
    tag: 'Voice identity',
    summary,
    description:
      `Takes ${anyAudioFormat}, of ${task.needs.minDurationS} to ${config.maxVoiceidDurationS} s, with at least ` +
      `${task.needs.minSpeechS} s of speech.`,
    form: {
      file: { field: FILE_FIELD, description: 'The voice sample.', maxBytes: config.maxVoiceidBytes },
      schemas: task.fieldSchemas,
      ...fields,
    },
    answers,
    errors: [
      ...formErrors,
      'FIELD_INVALID',
      'FILE_TOO_LARGE',
      ...analysisErrors,
      'SPEECH_TOO_SHORT',
      'AI_GENERATED_VOICE',
      'NO_SPEAKER_MODEL',
      ...errors,
    ],
  };
  return { method: 'POST', path: task.path, scope: 'voiceid', takesTurn: true, operation, handle };
}
