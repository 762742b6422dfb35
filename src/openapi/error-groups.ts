// SPDX-License-Identifier: Apache-2.0
//
// Which errors the parts that routes are made of can answer with.
import type { ErrorKey } from '../errors/catalogue.js';

/** `receiveForm` and `fileOf`. */
export const formErrors = [
  'CONTENT_TYPE_INVALID',
  'MULTIPART_MALFORMED',
  'MULTIPART_LIMIT',
  'FIELD_TOO_LARGE',
  'FIELD_REPEATED',
  'FILE_MISSING',
  'FILE_EMPTY',
  'FILE_TOO_LARGE',
  'RECEIVE_TIMEOUT',
  'OVERLOADED',
  'QUEUE_DEADLINE',
] as const satisfies readonly ErrorKey[];

/** `receiveJson`. */
export const jsonErrors = [
  'CONTENT_TYPE_INVALID',
  'JSON_MALFORMED',
  'BODY_TOO_LARGE',
  'RECEIVE_TIMEOUT',
] as const satisfies readonly ErrorKey[];

/** `FieldValidator`. */
export const fieldErrors = ['FIELD_INVALID'] as const satisfies readonly ErrorKey[];

/** `Analyser.analyse`. */
export const analysisErrors = [
  'AUDIO_TOO_SHORT',
  'AUDIO_TOO_LONG',
  'UNSUPPORTED_FORMAT',
  'NO_AUDIO_STREAM',
  'UNDECODABLE',
  'OVERLOADED',
  'QUEUE_DEADLINE',
  'ANALYSIS_TIMEOUT',
  'NON_FINITE_OUTPUT',
] as const satisfies readonly ErrorKey[];
