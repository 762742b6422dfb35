// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from './fields.js';
import {
  EMBEDDING_SIZE,
  MAX_MATCHES,
  MAX_VOICE_VECTOR_CHARS,
  MAX_VOICEPRINTS,
  MAX_VOICEPRINTS_BYTES,
} from './limits.js';
import { regionFieldSchemas } from './region-fields.js';

export const VOICE_VECTOR_FIELD = 'voice_vector';
export const VOICE_VECTOR_EXPECTED = `a JSON array of ${EMBEDDING_SIZE} finite numbers, or base64 of ${EMBEDDING_SIZE} little-endian float32,`;

/** The fields of `POST /v1/voiceid/enroll-samples`. Any text, within the limit of every field. */
export const enrollSamplesFieldSchemas = {
  user_id: {
    type: 'string',
    expected: 'a text',
    description: "The client's own identifier for the speaker; it is neither stored nor used.",
  },
} as const satisfies FieldSchemas;

/** The fields of `POST /v1/voiceid/enroll`. */
export const enrollFieldSchemas = {
  ...enrollSamplesFieldSchemas,
  ...regionFieldSchemas,
} as const satisfies FieldSchemas;

export type EnrollSamplesFields = FieldValues<typeof enrollSamplesFieldSchemas>;
export type EnrollFields = FieldValues<typeof enrollFieldSchemas>;

/** The fields of `POST /v1/voiceid/verify`. */
export const verifyFieldSchemas = {
  ...enrollFieldSchemas,
  [VOICE_VECTOR_FIELD]: {
    type: 'string',
    maxLength: MAX_VOICE_VECTOR_CHARS,
    expected: VOICE_VECTOR_EXPECTED,
    description: 'The embedding from enroll: a JSON array, or base64 of little-endian float32.',
  },
} as const satisfies FieldSchemas;

export type VerifyFields = FieldValues<typeof verifyFieldSchemas>;

export const VOICEPRINTS_FIELD = 'voiceprints';
export const VOICEPRINTS_EXPECTED = `a JSON array of 1 to ${MAX_VOICEPRINTS} objects with id and voice_vector`;

/** The fields of `POST /v1/voiceid/search`, in addition to the list. */
export const identifyFieldSchemas = {
  ...enrollFieldSchemas,
  top: {
    type: 'number',
    multipleOf: 1,
    minimum: 1,
    maximum: MAX_MATCHES,
    default: 5,
    expected: `a whole number from 1 to ${MAX_MATCHES}`,
    description: 'Number of matches to return.',
  },
  prior: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0.5,
    expected: 'a number from 0 to 1',
    description: 'Probability that the speaker is on the list, before the voice is heard.',
  },
} as const satisfies FieldSchemas;

export type IdentifyFields = FieldValues<typeof identifyFieldSchemas>;

/** All fields, for the description: the list is longer than a usual text. */
export const identifyFormSchemas = {
  ...identifyFieldSchemas,
  [VOICEPRINTS_FIELD]: {
    type: 'string',
    expected: VOICEPRINTS_EXPECTED,
    description:
      `The list, at most ${MAX_VOICEPRINTS_BYTES} bytes of JSON. A \`voice_vector\` is as for verify; \`embedding\` is another name ` +
      'for it, and other members are ignored.',
  },
} as const satisfies FieldSchemas;
