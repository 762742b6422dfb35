// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import {
  enrollmentBody,
  isAiGenerated,
  joinedEnrollmentBody,
  requireAuthentic,
  requireOwn,
  verificationBody,
} from '../../analysis/voiceid/answers.js';
import { identificationBody } from '../../analysis/voiceid/identification.js';
import { joinSamples } from '../../analysis/voiceid/joined-samples.js';
import { mostSuspicious, readSamples, togetherOf, voicesIn } from '../../analysis/voiceid/read-samples.js';
import { chooseSpeaker, type Speaker } from '../../analysis/voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../../analysis/voiceid/voice-sample.js';
import { parseVoiceVector } from '../../analysis/voiceid/voice-vector.js';
import { VoiceprintList } from '../../analysis/voiceid/voiceprint-list.js';
import type { AudioRegion } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { FieldSchemas } from '../../base/contract/fields.js';
import type { Identification } from '../../base/contract/identification.js';
import {
  enrollNeeds,
  MAX_SAMPLES,
  MAX_VOICEPRINTS_BYTES,
  type SampleNeeds,
  verifyNeeds,
} from '../../base/contract/limits.js';
import { defaultModel } from '../../base/contract/model-ids.js';
import {
  COSINE_HEADER,
  enrollEndpoint,
  enrollSamplesEndpoint,
  FLAG_HEADER,
  identifyEndpoint,
  SAMPLE_FIELD,
  verifyEndpoint,
} from '../../base/contract/voice-endpoints.js';
import {
  type EnrollFields,
  type EnrollSamplesFields,
  enrollFieldSchemas,
  enrollSamplesFieldSchemas,
  type IdentifyFields,
  identifyFieldSchemas,
  type VerifyFields,
  VOICE_VECTOR_FIELD,
  VOICEPRINTS_FIELD,
  verifyFieldSchemas,
} from '../../base/contract/voice-fields.js';
import type { Enrollment, Verification } from '../../base/contract/voice-identity.js';
import type { SampleEnrollment } from '../../base/contract/voice-samples.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import type { LargeField } from '../upload/multipart-parser.js';
import { answerInput, type Findings, noteFindings } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { receiveFormInput } from './form-input.js';
import { regionOf } from './region.js';
import { type Headers, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

/** The samples of a request, which are read when they are wanted. */
interface Samples {
  readonly regions: readonly ArenaRegion[];
  read(region: ArenaRegion, needs: SampleNeeds): Promise<VoiceSample>;
}

/** The findings, and the answer that follows from them. */
interface Found {
  readonly findings: Omit<Findings, 'model'>;
  /** @throws ServiceError if the samples do not suffice */
  answer(elapsedS: () => number): Answer | Promise<Answer>;
}

/** The routes' demands on samples, and the answers from them. */
interface Task<Fields, Checked> {
  readonly endpoint: Endpoint;
  readonly fieldSchemas: FieldSchemas;
  readonly maxSamples: number;
  readonly checksAuthenticity: boolean;
  readonly largeField?: LargeField;
  /** @throws ServiceError FIELD_INVALID */
  regionOf(fields: Fields): AudioRegion;
  /**
   * Called before the samples are looked at, so that a bad field costs nothing.
   * @param largeField the content of the part that `largeField` names
   */
  check(fields: Fields, speaker: Speaker, largeField: Uint8Array | undefined): Checked | Promise<Checked>;
  find(samples: Samples, checked: Checked, speaker: Speaker): Promise<Found>;
}

interface Answer {
  readonly body: Enrollment | SampleEnrollment | Verification | Identification;
  readonly headers?: Headers;
}

/** The parts of the routes. */
interface VoiceParts {
  readonly config: Config;
  readonly analyser: Analyser;
  readonly queue: ArenaQueue;
  readonly points: OperatingPoints;
}

export const voiceRoutes = (parts: VoiceParts): readonly Route[] => [
  enrollRoute(parts),
  enrollSamplesRoute(parts),
  verifyRoute(parts),
  identifyRoute(parts),
];

/** `POST /v1/voiceid/enroll`: turns a voice into a voiceprint, which only the caller keeps. */
function enrollRoute(parts: VoiceParts): Route {
  const policy = parts.config.enrollAuthenticity;
  return voiceRoute<EnrollFields, void>(parts, {
    endpoint: enrollEndpoint(parts.config),
    fieldSchemas: enrollFieldSchemas,
    maxSamples: 1,
    regionOf,
    checksAuthenticity: policy !== 'skip',
    check() {},
    async find(samples, _, speaker) {
      const sample = await onlyOf(samples, enrollNeeds);
      return {
        findings: sample,
        answer: (elapsedS) => {
          if (policy === 'reject') requireAuthentic(sample);
          return flagged(enrollmentBody(sample, speaker, elapsedS()), [sample]);
        },
      };
    },
  });
}

/** `POST /v1/voiceid/enroll-samples`: turns several samples into one voiceprint, and states the worth of each. */
function enrollSamplesRoute(parts: VoiceParts): Route {
  const policy = parts.config.enrollAuthenticity;
  return voiceRoute<EnrollSamplesFields, void>(parts, {
    endpoint: enrollSamplesEndpoint(parts.config),
    fieldSchemas: enrollSamplesFieldSchemas,
    maxSamples: MAX_SAMPLES,
    regionOf: () => ({}),
    checksAuthenticity: policy !== 'skip',
    check() {},
    async find({ regions, read }, _, speaker) {
      const samples = await readSamples(regions, read);
      const voices = voicesIn(samples);
      return {
        findings: togetherOf(voices),
        answer: (elapsedS) => {
          // If it is the fault of all of them, that is the answer.
          const worst = mostSuspicious(voices);
          if (policy === 'reject' && worst !== undefined && voices.every(isAiGenerated))
            requireAuthentic(worst);
          const joined = joinSamples(samples, speaker, policy === 'reject');
          return flagged(joinedEnrollmentBody(joined, speaker, elapsedS()), joined.accepted);
        },
      };
    },
  });
}

/** `POST /v1/voiceid/verify`: is this the enrolled speaker, and a human voice? */
function verifyRoute(parts: VoiceParts): Route {
  return voiceRoute<VerifyFields, Float32Array>(parts, {
    endpoint: verifyEndpoint(parts.config),
    fieldSchemas: verifyFieldSchemas,
    maxSamples: 1,
    regionOf,
    checksAuthenticity: true,
    check({ voice_vector }, speaker) {
      if (voice_vector === undefined) throw new ServiceError('FIELD_MISSING', { field: VOICE_VECTOR_FIELD });
      const enrolled = parseVoiceVector(voice_vector);
      requireOwn(enrolled, speaker);
      return enrolled;
    },
    async find(samples, enrolled, speaker) {
      const sample = await onlyOf(samples, verifyNeeds);
      return {
        findings: sample,
        answer: (elapsedS) => {
          requireAuthentic(sample);
          const comparison = speaker.compare(sample.voiceprint, enrolled);
          const body = verificationBody(comparison, speaker, elapsedS());
          return { body, headers: [[COSINE_HEADER, comparison.cosine.toFixed(6)]] };
        },
      };
    },
  });
}

/** `POST /v1/voiceid/search`: whose voice of a list is this, and is it a human voice? */
function identifyRoute(parts: VoiceParts): Route {
  return voiceRoute<IdentifyFields, { list: VoiceprintList; fields: IdentifyFields }>(parts, {
    endpoint: identifyEndpoint(parts.config),
    fieldSchemas: identifyFieldSchemas,
    maxSamples: 1,
    regionOf,
    checksAuthenticity: true,
    largeField: { name: VOICEPRINTS_FIELD, maxBytes: MAX_VOICEPRINTS_BYTES },
    async check(fields, speaker, list) {
      if (list === undefined) throw new ServiceError('FIELD_MISSING', { field: VOICEPRINTS_FIELD });
      return { list: await VoiceprintList.checked(list, speaker), fields };
    },
    async find(samples, { list, fields }, speaker) {
      const sample = await onlyOf(samples, verifyNeeds);
      return {
        findings: sample,
        answer: async (elapsedS) => {
          requireAuthentic(sample);
          const ranking = await list.rank(sample.voiceprint, fields.top);
          return { body: identificationBody(ranking, speaker, fields.prior, elapsedS()) };
        },
      };
    },
  });
}

const onlyOf = ({ regions, read }: Samples, needs: SampleNeeds): Promise<VoiceSample> =>
  read(regions[0] as ArenaRegion, needs);

/** With the highest score in a header if AI-generated voices are enrolled. */
function flagged(body: Answer['body'], voices: readonly VoiceSample[]): Answer {
  const worst = mostSuspicious(voices.filter(isAiGenerated));
  return worst === undefined ? { body } : { body, headers: [[FLAG_HEADER, String(worst.deepfakeScore)]] };
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
    ...(task.largeField && { largeField: task.largeField }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };

  async function handle(request: RouteRequest): Promise<Reply> {
    if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
    const input = await receiveFormInput(request, validator, queue, limits, task.maxSamples);
    return answerInput(request, input, async (elapsedS) => {
      const { fields, regions, largeField } = input;
      const stretch = task.regionOf(fields);
      const checked = await task.check(fields, speaker, largeField);
      const read: Samples['read'] = async (region, needs) => {
        const place = regions.length > 1 ? `Sample ${regions.indexOf(region) + 1}: ` : '';
        const sample = await readVoice(analyser, speaker, {
          region,
          detectorId: task.checksAuthenticity ? defaultModel(detectors) : undefined,
          ...needs,
          ...stretch,
          maxDurationS: config.maxVoiceidDurationS,
          signal: request.signal,
          owner: request.caller?.id ?? '',
        }).catch((error: unknown) => {
          // Others are not about the sample, and other requests may share them.
          if (error instanceof ServiceError && error.status < 500) error.message = place + error.message;
          throw error;
        });
        request.ignored.push(...sample.warnings.map((warning) => place + warning));
        return sample;
      };
      const found = await task.find({ regions, read }, checked, speaker);
      noteFindings(request.record, { ...found.findings, model: speaker.modelId });
      const { body, headers = [] } = await found.answer(elapsedS);
      return { ...jsonReply(200, body), headers };
    });
  }

  return { ...task.endpoint, takesTurn: true, handle };
}
