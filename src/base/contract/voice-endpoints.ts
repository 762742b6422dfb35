// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { formErrors, regionErrors } from './error-groups.js';
import { identification } from './identification.js';
import { enrollNeeds, MAX_SAMPLES, MAX_VOICEPRINTS, type SampleNeeds, verifyNeeds } from './limits.js';
import { anyAudioFormat, type Fields, type FilePart, type Operation } from './operation.js';
import {
  enrollFieldSchemas,
  enrollSamplesFieldSchemas,
  identifyFormSchemas,
  VOICE_VECTOR_FIELD,
  VOICEPRINTS_FIELD,
  verifyFieldSchemas,
} from './voice-fields.js';
import { enrollment, verification } from './voice-identity.js';
import { sampleEnrollment } from './voice-samples.js';

/** The form field that holds the voice sample. */
export const SAMPLE_FIELD = 'audio_file';
/** On the answer to an enrolment that was accepted although the voice is AI-generated; its value is the score. */
export const FLAG_HEADER = 'x-deepfake-flagged';
/** On the answer to a verification. */
export const COSINE_HEADER = 'x-voice-cosine';

export const voiceEndpoints = (settings: EndpointSettings): readonly Endpoint[] => [
  enrollEndpoint(settings),
  enrollSamplesEndpoint(settings),
  verifyEndpoint(settings),
  identifyEndpoint(settings),
];

/** Turns a voice into a voiceprint, which only the client keeps. */
export function enrollEndpoint(settings: EndpointSettings): Endpoint {
  return voiceEndpoint('/v1/voiceid/enroll', settings, enrollNeeds, {
    id: 'enroll',
    summary: 'Make a voiceprint from a clean voice sample.',
    fields: { title: 'EnrollFields', schemas: enrollFieldSchemas, example: { user_id: 'anna' } },
    answers: {
      200: {
        description: 'The voiceprint. The server does not keep it.',
        schema: enrollment,
        headers: { [FLAG_HEADER]: 'The score, if an AI-generated voice was enrolled nevertheless.' },
      },
    },
    errors: ['SPEECH_TOO_SHORT'],
  });
}

/** Turns several samples of a voice into one voiceprint, and states the worth of each. */
export function enrollSamplesEndpoint(settings: EndpointSettings): Endpoint {
  return voiceEndpoint('/v1/voiceid/enroll-samples', settings, verifyNeeds, {
    id: 'enrollSamples',
    summary: `Make one voiceprint from up to ${MAX_SAMPLES} voice samples, with feedback on each.`,
    file: {
      description: 'Voice samples, together no larger than one may be.',
      files: { least: 1, most: MAX_SAMPLES },
    },
    fields: {
      title: 'EnrollSamplesFields',
      schemas: enrollSamplesFieldSchemas,
      example: { user_id: 'anna' },
    },
    answers: {
      200: {
        description: 'The voiceprint, and what each sample is worth. The server does not keep it.',
        schema: sampleEnrollment,
        headers: { [FLAG_HEADER]: 'The highest score, if AI-generated voices were enrolled nevertheless.' },
      },
    },
    errors: ['SAMPLES_INSUFFICIENT', 'SAMPLES_DISAGREE'],
  });
}

/** Is this the enrolled speaker, and a human voice? */
export function verifyEndpoint(settings: EndpointSettings): Endpoint {
  return voiceEndpoint('/v1/voiceid/verify', settings, verifyNeeds, {
    id: 'verify',
    summary: 'Is this the enrolled speaker, and a human voice?',
    fields: {
      title: 'VerifyFields',
      schemas: verifyFieldSchemas,
      required: [VOICE_VECTOR_FIELD],
      example: { user_id: 'anna', [VOICE_VECTOR_FIELD]: '[-0.021,0.0175,...]' },
    },
    answers: {
      200: {
        description: 'Whether the voices match.',
        schema: verification,
        headers: {
          [COSINE_HEADER]:
            'Cosine of the two voiceprints, -1 to 1, before calibration. Comparable within one model only.',
        },
      },
    },
    errors: ['FIELD_MISSING', 'VOICEPRINT_FOREIGN', 'SPEECH_TOO_SHORT'],
  });
}

/** Whose voice of a list is this? */
export function identifyEndpoint(settings: EndpointSettings): Endpoint {
  return voiceEndpoint('/v1/voiceid/search', settings, verifyNeeds, {
    id: 'identify',
    summary: `Whose voice of a list of up to ${MAX_VOICEPRINTS} voiceprints is this?`,
    fields: {
      title: 'IdentifyFields',
      schemas: identifyFormSchemas,
      required: [VOICEPRINTS_FIELD],
      example: {
        [VOICEPRINTS_FIELD]: '[{"id":"anna","voice_vector":[-0.021,0.0175,...]}]',
        top: 5,
        prior: 0.5,
      },
    },
    answers: { 200: { description: 'The most alike, the best first.', schema: identification } },
    errors: ['SPEECH_TOO_SHORT', 'FIELD_MISSING', 'LISTED_VOICEPRINT_FOREIGN'],
  });
}

/** The differences between them. */
interface Difference extends Pick<Operation, 'id' | 'summary' | 'answers'> {
  readonly file?: Pick<FilePart, 'description' | 'files'>;
  readonly fields: Fields;
  readonly errors: readonly ErrorKey[];
}

function voiceEndpoint(
  path: string,
  { maxVoiceidBytes, maxVoiceidDurationS }: EndpointSettings,
  { minDurationS, minSpeechS }: SampleNeeds,
  { id, summary, file = { description: 'The voice sample.' }, fields, answers, errors }: Difference,
): Endpoint {
  return {
    method: 'POST',
    path,
    scope: 'voiceid',
    operation: {
      id,
      tag: 'Voice identity',
      summary,
      description:
        `Takes ${anyAudioFormat}, ${minDurationS} to ${maxVoiceidDurationS} s long, with at least ` +
        `${minSpeechS} s of speech.`,
      form: {
        file: { field: SAMPLE_FIELD, maxBytes: maxVoiceidBytes, ...file },
        ...fields,
      },
      answers,
      errors: [
        ...formErrors,
        'FIELD_INVALID',
        'FILE_TOO_LARGE',
        ...regionErrors,
        'AI_GENERATED_VOICE',
        'NO_SPEAKER_MODEL',
        ...errors,
      ],
    },
  };
}
