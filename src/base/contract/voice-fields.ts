// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from './fields.js';
import { EMBEDDING_SIZE, MAX_VOICE_VECTOR_CHARS } from './limits.js';
import { regionFieldSchemas } from './region-fields.js';

export const VOICE_VECTOR_FIELD = 'voice_vector';
export const VOICE_VECTOR_EXPECTED = `a JSON array of ${EMBEDDING_SIZE} finite numbers, or base64 of ${EMBEDDING_SIZE} little-endian float32,`;

/** The fields of `POST /v1/voiceid/enroll-samples`. Any text, within the limit of every field. */
export const enrollSamplesFieldSchemas = {
  user_id: {
    type: 'string',
    expected: 'a text',
    description: "The client's own identifier for the speaker; nothing is stored or looked up under it.",
  },
} as const satisfies FieldSchemas;

/** Those of `POST /v1/voiceid/enroll`. */
export const enrollFieldSchemas = {
  ...enrollSamplesFieldSchemas,
  ...regionFieldSchemas,
} as const satisfies FieldSchemas;

export type EnrollSamplesFields = FieldValues<typeof enrollSamplesFieldSchemas>;
export type EnrollFields = FieldValues<typeof enrollFieldSchemas>;

/** Those of `POST /v1/voiceid/verify`. */
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
