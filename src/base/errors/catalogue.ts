// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';
import { fileEntries } from './file-entries.js';
import { formatsInWords, mediaFormats } from './media-formats.js';

export type { CatalogueEntry, PublicErrorCode } from './catalogue-entry.js';

const entries = {
  // The request
  FRAMING_UNCLEAR: {
    status: 400,
    code: 'validation_error',
    message: 'The end of the request is unclear: {problem}.',
    when: 'Headers that leave open where the request ends or which host it is for. The connection is closed, and nothing behind the request is read.',
  },
  FIELD_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'Expected {expected} for {field} but received {received}.',
    when: 'A known field has a value outside its documented range or form.',
  },
  FIELD_REPEATED: {
    status: 400,
    code: 'validation_error',
    message: 'The field {field} was given more than once.',
    when: 'A known field stands twice in one form.',
  },
  FIELD_TOO_LARGE: {
    status: 400,
    code: 'validation_error',
    message: 'The field {field} is larger than the allowed {allowedBytes} bytes. {hint}',
    when: 'A form field other than the file is over 64 KiB, such as a file under a wrong name.',
  },
  FIELD_MISSING: {
    status: 400,
    code: 'validation_error',
    message: 'The form has no field {field}.',
    when: 'A required field is missing.',
  },
  FILE_MISSING: {
    status: 400,
    code: 'validation_error',
    message: 'The form has no file in the field {field}. {hint}',
    when: 'The upload form lacks its file part, or the part is not a file; the hint names the field that holds one.',
  },
  FILE_EMPTY: {
    status: 400,
    code: 'validation_error',
    message: 'The file in the field {field} is empty.',
    when: 'The file part has no bytes.',
  },
  CONTENT_TYPE_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'Expected a content-type of {expected} but received {received}.',
    when: 'The content-type header is missing, malformed or of another kind than the route takes.',
  },
  MULTIPART_MALFORMED: {
    status: 400,
    code: 'validation_error',
    message: 'The multipart body is malformed: {problem}.',
    when: 'The body breaks RFC 7578 / RFC 2046: no boundary, bad part headers, missing final boundary.',
  },
  MULTIPART_LIMIT: {
    status: 400,
    code: 'validation_error',
    message: 'The multipart body is over a limit: {problem}.',
    when: 'Too many parts, or part headers that are too large.',
  },
  JSON_MALFORMED: {
    status: 400,
    code: 'validation_error',
    message: 'The body is not a JSON object: {problem}',
    when: 'A JSON request whose body is no JSON, no object or not UTF-8.',
  },
  JSON_LIMIT: {
    status: 400,
    code: 'validation_error',
    message: 'The JSON body is over a limit: {problem}.',
    when: 'A JSON body that is nested too deeply, or has too many names and values.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: 'The request body is larger than the allowed {allowedBytes} bytes.',
    when: 'A JSON body over its limit.',
  },
  FILE_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: 'The file is larger than the allowed {allowedBytes} bytes. {hint}',
    when: 'The file, or the request around it, is over the size limit of the route; sent as soon as that is known.',
  },
  FILE_TOO_LARGE_LEGACY: {
    status: 400,
    code: 'validation_error',
    message: 'The file is larger than the allowed {allowedBytes} bytes.',
    when: 'A file over 4 MB in v0 or under the unversioned base; sent as soon as that is known.',
  },
  FILE_TOO_SMALL: {
    status: 400,
    code: 'validation_error',
    message: 'The file is smaller than the required {requiredBytes} bytes. {hint}',
    when: 'A file below the size range of /v1/predict/large-file; sent as soon as that is known.',
  },
  ...fileEntries,
  // The audio
  AUDIO_TOO_SHORT: {
    status: 400,
    code: 'validation_error',
    message: 'The audio is {measuredS} s long; at least {requiredS} s are required.',
    when: 'Less audio than the route needs.',
  },
  AUDIO_TOO_LONG: {
    status: 413,
    code: 'payload_too_large',
    message: 'The audio is at least {measuredS} s long; at most {allowedS} s are allowed.',
    when: 'More audio than the route allows; nothing is ever truncated.',
  },
  NO_SPEECH: {
    status: 422,
    code: 'validation_error',
    message:
      'No window had enough speech: every window was over silence_threshold = {silenceThreshold} percent of non-speech.',
    when: 'Every window was skipped for silence. Silence is never called bona fide.',
  },
  UNSUPPORTED_FORMAT: {
    status: 422,
    code: 'unsupported_format',
    message: `The file is not in a supported format: {problem} Supported formats: ${formatsInWords('and', mediaFormats)}, with the codecs that are usual in them.`,
    when: 'The content (not the name) is none of the allowed containers and codecs.',
  },
  NO_AUDIO_STREAM: {
    status: 422,
    code: 'unsupported_format',
    message: 'The file has no audio stream.',
    when: 'A video or container file without audio.',
  },
  UNDECODABLE: {
    status: 422,
    code: 'unsupported_format',
    message: 'The audio could not be decoded: {problem}',
    when: 'A supported format whose content is corrupt throughout, or out of bounds (channels, sample rate).',
  },
  INPUT_REFUSED: {
    status: 422,
    code: 'unsupported_format',
    message: 'This file is refused: analysing it has ended the server more than once.',
    when: 'The same bytes have crashed a decoder of this server twice. Please report such a file.',
  },
  // The voice
  SPEECH_TOO_SHORT: {
    status: 400,
    code: 'validation_error',
    message: 'The audio holds {measuredS} s of speech; at least {requiredS} s are required.',
    when: 'Audio that is long enough, but with less speech in it than a voiceprint or a comparison needs.',
  },
  VOICEPRINT_FOREIGN: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected an embedding made by {model} for voice_vector but received one of another model, or one that was altered; enroll the speaker again.',
    when: 'A voiceprint that the loaded speaker model did not make. No similarity is given for it.',
  },
  AI_GENERATED_VOICE: {
    status: 403,
    code: 'forbidden_error',
    message: 'The voice was detected as AI-generated with a confidence of {percent}%.',
    when: 'The sample of a verification, or of an enrolment with `VERAVOX_ENROLL_AUTHENTICITY` = `reject`, is AI-generated.',
  },
  NO_SPEAKER_MODEL: {
    status: 503,
    code: 'unavailable',
    message:
      'This server has no speaker model, which voice identity needs; an operator has to add one; retry after {retryAfterS} s.',
    when: 'Voice identity on a server whose manifest lists no model with the task `speaker`.',
    retryAfterS: 300,
  },
  // Who asks, and where
  UNAUTHORIZED: {
    status: 401,
    code: 'unauthorized',
    message: 'The x-api-key header is missing or does not hold an active API key.',
    when: 'A missing, unknown, expired or revoked key (v1).',
  },
  UNAUTHORIZED_LEGACY: {
    status: 403,
    code: 'unauthorized',
    message: 'The x-api-key header is missing or does not hold an active API key.',
    when: 'A missing, unknown, expired or revoked key (v0 and the unversioned base).',
  },
  FORBIDDEN: {
    status: 403,
    code: 'forbidden',
    message: 'The API key lacks the scope {scope}.',
    when: 'A valid key without the scope that the route needs.',
  },
  NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no resource at {path}. {hint}',
    when: 'An unknown path; the hint says if it contains a version twice.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    code: 'method_not_allowed',
    s3Code: 'MethodNotAllowed',
    message: 'The method {method} is not allowed here; allowed: {allowed}.',
    when: 'A known path with another method; `Allow` names those that work.',
  },
  RECEIVE_TIMEOUT: {
    status: 408,
    code: 'timeout',
    s3Code: 'RequestTimeout',
    message: 'The request body did not arrive within {timeoutMs} ms.',
    when: 'A body that arrives too slowly.',
  },
  RECEIVE_TOO_SLOW: {
    status: 408,
    code: 'timeout',
    s3Code: 'RequestTimeout',
    message:
      'The request body came too slowly while other requests waited: {receivedBytes} bytes in {seconds} s; retry later.',
    when: 'A slow or stalled body that holds a permit or upload memory that others want.',
  },
  // The server
  RATE_LIMITED: {
    status: 429,
    code: 'rate_limited',
    message: 'The API key has used up its {limit} requests in {windowS} s; retry after {retryAfterS} s.',
    when: 'The key is over its rate. Whoever waits for `Retry-After` is let in, if the key is not used up meanwhile.',
    retryAfterS: 'known',
  },
  CONCURRENCY_LIMITED: {
    status: 429,
    code: 'rate_limited',
    message: 'The API key has {limit} requests in flight, which is its limit; retry after {retryAfterS} s.',
    when: 'The key is over its number of requests at once, or has its share of all requests in flight.',
    retryAfterS: 1,
  },
  OVERLOADED: {
    status: 503,
    code: 'unavailable',
    s3Code: 'SlowDown',
    message: 'The server is at its limit of {limit}; retry after {retryAfterS} s.',
    when: 'The queue would be too long, or there is no permit or upload memory left, or none for this key, account or address: see docs/overload.md.',
    retryAfterS: 'known',
  },
  QUEUE_DEADLINE: {
    status: 503,
    code: 'unavailable',
    message: 'The request waited longer than {timeoutMs} ms for a free worker; retry after {retryAfterS} s.',
    when: 'Admitted, but not started or not scored in time.',
    retryAfterS: 2,
  },
  STOPPING: {
    status: 503,
    code: 'unavailable',
    s3Code: 'ServiceUnavailable',
    message: 'The server is shutting down; retry after {retryAfterS} s.',
    when: 'During a graceful stop.',
    retryAfterS: 5,
  },
  FETCH_UNREACHABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The storage behind presigned_url could not be reached; retry after {retryAfterS} s.',
    when: 'The host of a link has no address, refuses the connection or breaks it off.',
    retryAfterS: 2,
  },
  FETCH_FAILED: {
    status: 503,
    code: 'unavailable',
    message: 'The storage behind presigned_url failed with status {status}; retry after {retryAfterS} s.',
    when: 'A status of 5xx from the storage, or one that makes no sense here.',
    retryAfterS: 2,
  },
  FETCH_INSECURE: {
    status: 500,
    code: 'internal_error',
    message: 'No secure connection to the storage behind presigned_url could be made.',
    when: 'The TLS handshake fails, such as for a certificate that is not trusted here.',
  },
  FETCH_TIMEOUT: {
    status: 500,
    code: 'internal_error',
    message: 'The storage behind presigned_url {problem}.',
    when: 'The storage sends nothing for too long, or the file takes too long in all.',
  },
  ANALYSIS_TIMEOUT: {
    status: 500,
    code: 'internal_error',
    message: 'The analysis did not finish within {timeoutMs} ms.',
    when: 'The time limit of one analysis was reached.',
  },
  NON_FINITE_OUTPUT: {
    status: 500,
    code: 'internal_error',
    message: 'The model {model} gave an output that is not a finite number.',
    when: 'A model failure; such a number is never sent as a score.',
  },
  INTERNAL: {
    status: 500,
    code: 'internal_error',
    s3Code: 'InternalError',
    message: 'The request failed inside the server. The correlation id identifies it in the log.',
    when: 'Our own fault. Retrying is advised.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorKey = keyof typeof entries;
export const catalogue: Readonly<Record<ErrorKey, CatalogueEntry>> = entries;
