// SPDX-License-Identifier: Apache-2.0
//
// The errors of the parts that routes are made of.
import type { ErrorKey } from '../errors/catalogue.js';

/** `receiveForm` and `fileOf`; size limits differ between routes. */
export const formErrors = [
  'CONTENT_TYPE_INVALID',
  'CONTENT_ENCODING_UNSUPPORTED',
  'MULTIPART_MALFORMED',
  'MULTIPART_LIMIT',
  'FIELD_TOO_LARGE',
  'FIELD_REPEATED',
  'FILE_MISSING',
  'FILE_EMPTY',
  'RECEIVE_TIMEOUT',
  'RECEIVE_TOO_SLOW',
  'OVERLOADED',
  'QUEUE_DEADLINE',
] as const satisfies readonly ErrorKey[];

/** `receiveJson`. */
export const jsonErrors = [
  'CONTENT_TYPE_INVALID',
  'CONTENT_ENCODING_UNSUPPORTED',
  'JSON_MALFORMED',
  'JSON_LIMIT',
  'BODY_TOO_LARGE',
  'RECEIVE_TIMEOUT',
  'RECEIVE_TOO_SLOW',
] as const satisfies readonly ErrorKey[];

/** `PresignedFetcher`. */
const fetchErrors = [
  'FETCH_HOST_REFUSED',
  'FETCH_ADDRESS_REFUSED',
  'FETCH_STATUS_REFUSED',
  'FETCH_REDIRECTED',
  'FETCH_ENCODED',
  'FETCH_UNREACHABLE',
  'FETCH_FAILED',
  'FETCH_INSECURE',
  'FETCH_TIMEOUT',
] as const satisfies readonly ErrorKey[];

/** `ByteSource`, in addition to those of links and storage. */
const rangeErrors = ['FETCH_NO_RANGES', 'FILE_CHANGED'] as const satisfies readonly ErrorKey[];

/** Errors of a form that JSON with a link cannot have, and vice versa. */
export const formOnlyErrors: readonly ErrorKey[] = [
  'MULTIPART_MALFORMED',
  'MULTIPART_LIMIT',
  'FIELD_TOO_LARGE',
  'FIELD_REPEATED',
  'FILE_MISSING',
];
export const linkOnlyErrors: readonly ErrorKey[] = [
  'JSON_MALFORMED',
  'JSON_LIMIT',
  'BODY_TOO_LARGE',
  ...fetchErrors,
];

/** `receiveInput`, which takes a form or a link in JSON. */
export const inputErrors = [...formErrors, ...jsonErrors, ...fetchErrors, 'FIELD_INVALID'] as const;

/** `Analyser.analyse` and `Analyser.embed`. */
export const analysisErrors = [
  'AUDIO_TOO_SHORT',
  'AUDIO_TOO_LONG',
  'UNSUPPORTED_FORMAT',
  'NO_AUDIO_STREAM',
  'UNDECODABLE',
  'INPUT_REFUSED',
  'OVERLOADED',
  'QUEUE_DEADLINE',
  'ANALYSIS_TIMEOUT',
  'NON_FINITE_OUTPUT',
] as const satisfies readonly ErrorKey[];

/** The same with a region. */
export const regionErrors = [...analysisErrors, 'REGION_OUT_OF_RANGE'] as const satisfies readonly ErrorKey[];

/** `ObjectStorage`. */
export const storageErrors = ['STORAGE_UNAVAILABLE', 'STORAGE_FAILED'] as const satisfies readonly ErrorKey[];

/** `SignatureCheck`. */
export const signatureErrors = [
  'ACCESS_DENIED',
  'ACCESS_KEY_UNKNOWN',
  'LINK_EXPIRED',
  'CLOCKS_DIFFER',
  'SIGNATURE_MISMATCH',
  'OBJECT_ARGUMENT_INVALID',
  'OBJECT_REQUEST_UNSUPPORTED',
] as const satisfies readonly ErrorKey[];

/** Only in the field `error` of a job. */
export const jobErrors = [
  ...rangeErrors,
  'WORKER_DIED',
  'SCORES_DIFFER',
  'MANIFEST_INVALID',
] as const satisfies readonly ErrorKey[];
