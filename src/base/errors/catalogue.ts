// SPDX-License-Identifier: Apache-2.0
//
// This room lists every error of the server with its status and sentence, and makes texts safe to show.
// docs/errors.md is generated from the catalogue.
import { adminEntries } from './admin-entries.js';
import type { CatalogueEntry } from './catalogue-entry.js';
import { fileEntries } from './file-entries.js';
import { formatsInWords, mediaFormats } from './media-formats.js';
import { signInEntries } from './sign-in-entries.js';
import { streamEntries } from './stream-entries.js';

export type { CatalogueEntry, PublicErrorCode } from './catalogue-entry.js';

const entries = {
  // The request
  FRAMING_UNCLEAR: {
    status: 400,
    code: 'validation_error',
    message: 'The end of the request is unclear: {problem}.',
    when: 'Ambiguous headers: the end of the request or its host is unclear. The server closes the connection and reads nothing after the request.',
  },
  FIELD_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'Expected {expected} for {field} but received {received}.',
    when: 'A known field has a value outside its documented range or format, or the percent-encoding of a query parameter is damaged.',
  },
  FIELD_REPEATED: {
    status: 400,
    code: 'validation_error',
    message: 'The field {field} was given more than once.',
    when: 'A known field appears twice in one form.',
  },
  FIELD_TOO_LARGE: {
    status: 400,
    code: 'validation_error',
    message: 'The field {field} exceeds the limit of {allowedBytes} bytes. {hint}',
    when: 'A form field other than the file exceeds 64 KiB (`voiceprints`: 32 MiB); often a file sent under the wrong field name.',
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
    when: 'The form has no file part, or the part is not a file. If another field holds a file, the hint names it.',
  },
  FILE_EMPTY: {
    status: 400,
    code: 'validation_error',
    message: 'The file in the field {field} is empty.',
    when: 'The file part is empty.',
  },
  CONTENT_TYPE_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'Expected a content-type of {expected} but received {received}.',
    when: 'The content-type header is missing, malformed or not one that the route accepts.',
  },
  CONTENT_ENCODING_UNSUPPORTED: {
    status: 400,
    code: 'validation_error',
    message: 'Expected a body without a content-encoding but received {received}. Send it uncompressed.',
    when: 'The header `content-encoding` says that a form or a JSON body is compressed.',
  },
  FIELD_UNKNOWN: {
    status: 400,
    code: 'validation_error',
    message: '{problem}',
    when: 'The request is a `DELETE` or has `prefer: handling=strict`, and a field or query parameter has no effect. In other requests it is only named in `x-warnings`.',
  },
  MULTIPART_MALFORMED: {
    status: 400,
    code: 'validation_error',
    message: 'The multipart body is malformed: {problem}.',
    when: 'The body violates RFC 7578 or RFC 2046: no boundary, invalid part headers or no final boundary.',
  },
  MULTIPART_LIMIT: {
    status: 400,
    code: 'validation_error',
    message: 'The multipart body exceeds a limit: {problem}.',
    when: 'The form has too many parts, or the headers of a part are too large.',
  },
  JSON_MALFORMED: {
    status: 400,
    code: 'validation_error',
    message: 'The body is not a JSON object: {problem}',
    when: 'The body of a JSON request is not JSON, not an object or not UTF-8, or an object in it has a name twice.',
  },
  JSON_LIMIT: {
    status: 400,
    code: 'validation_error',
    message: 'The JSON body exceeds a limit: {problem}.',
    when: 'The JSON body is nested too deeply, or has too many names and values.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    s3Code: 'MaxMessageLengthExceeded',
    message: 'The request body exceeds the limit of {allowedBytes} bytes.',
    when: 'The JSON body, the XML body of an S3 operation, or a form with many files exceeds its size limit.',
  },
  FILE_TOO_LARGE: {
    status: 413,
    code: 'payload_too_large',
    message: 'The file exceeds the limit of {allowedBytes} bytes. {hint}',
    when: 'The file, or the whole request, exceeds the size limit of the route; sent as soon as this is known.',
  },
  FILE_TOO_LARGE_LEGACY: {
    status: 400,
    code: 'validation_error',
    message: 'The file exceeds the limit of {allowedBytes} bytes.',
    when: 'The file exceeds 4 MB in v0 or under the unversioned base; sent as soon as this is known.',
  },
  FILE_TOO_SMALL: {
    status: 400,
    code: 'validation_error',
    message: 'The file is smaller than the minimum of {requiredBytes} bytes. {hint}',
    when: 'The file is too small for /v1/predict/large-file; sent as soon as this is known.',
  },
  ...fileEntries,
  ...streamEntries,
  // The audio
  AUDIO_TOO_SHORT: {
    status: 400,
    code: 'validation_error',
    message: 'The audio is {measuredS} s long; at least {requiredS} s are required.',
    when: 'The audio is shorter than the route requires.',
  },
  AUDIO_TOO_LONG: {
    status: 413,
    code: 'payload_too_large',
    message: 'The audio is at least {measuredS} s long; at most {allowedS} s are allowed.',
    when: 'The audio is longer than the route allows. Audio is never truncated.',
  },
  REGION_OUT_OF_RANGE: {
    status: 400,
    code: 'validation_error',
    message: 'The recording is {measuredS} s long and has no region from {startS} s to {end}.',
    when: 'The fields start and end name a region that the recording does not have.',
  },
  CHANNELS_TOO_MANY: {
    status: 400,
    code: 'validation_error',
    message: 'The recording has {channels} channels; at most {allowed} can be analysed separately.',
    when: 'The field channels is separate and the recording has too many of them.',
  },
  SAMPLES_INSUFFICIENT: {
    status: 400,
    code: 'validation_error',
    message:
      'The accepted samples have {durationS} s of audio with {speechS} s of speech; at least {requiredS} s with {requiredSpeechS} s of speech are required. Samples: {samples}.',
    when: 'Too few samples of an enrolment are long enough, human and of one speaker.',
  },
  SAMPLES_DISAGREE: {
    status: 400,
    code: 'validation_error',
    message: 'No more than half of the samples sound like one speaker. Samples: {samples}.',
    when: 'The samples of an enrolment seem to come from several speakers.',
  },
  PROFILE_RECORDINGS_INSUFFICIENT: {
    status: 422,
    code: 'validation_error',
    message:
      'A profile needs at least {required} different genuine recordings with speech; {usable} of {given} can be used. Left out: {problems}.',
    when: 'Too few different recordings for a profile can be analysed and have speech. The message names the others by their position, from 0 on.',
  },
  RECORDING_REPEATED: {
    status: 422,
    code: 'validation_error',
    message: 'The recording sounds exactly like an earlier one, which counts once.',
    when: 'Only in `left_out` of a new profile and in the message of `PROFILE_RECORDINGS_INSUFFICIENT`: a recording was sent twice, perhaps as another type of file.',
  },
  PROFILE_NOT_WORTHWHILE: {
    status: 422,
    code: 'validation_error',
    message: 'The profile is not saved: {problem}.',
    when: 'Held-out recordings show no gain, or too much AI-generated speech would pass.',
  },
  TOO_MANY_PROFILES: {
    status: 422,
    code: 'validation_error',
    message: 'The account has the maximum of {allowed} profiles. Delete one, or make a new version of one.',
    when: 'The account has the maximum number of profiles, and the name is new.',
  },
  NO_SPEECH: {
    status: 422,
    code: 'validation_error',
    message:
      'No window had enough speech: each has more than silence_threshold = {silenceThreshold} percent non-speech.{unheard}',
    when: 'Every window was skipped as silence. Silence never counts as a human voice.',
  },
  UNSUPPORTED_FORMAT: {
    status: 422,
    code: 'unsupported_format',
    message: `The file is not in a supported format: {problem} Supported formats: ${formatsInWords('and', mediaFormats)}, with their usual codecs.`,
    when: 'The content, whatever the file name, is not in one of the supported containers and codecs.',
  },
  NO_AUDIO_STREAM: {
    status: 422,
    code: 'unsupported_format',
    message: 'The file has no audio stream.',
    when: 'A video or container file has no audio stream.',
  },
  UNDECODABLE: {
    status: 422,
    code: 'unsupported_format',
    message: 'The audio could not be decoded: {problem}',
    when: 'The format is supported, but the content is corrupt throughout or out of range (channels, sample rate).',
  },
  INPUT_REFUSED: {
    status: 422,
    code: 'unsupported_format',
    message: 'This file is refused: analysing it has crashed the server more than once.',
    when: 'These bytes have crashed a decoder of this server twice. Please report the file.',
  },
  // The voice
  SPEECH_TOO_SHORT: {
    status: 400,
    code: 'validation_error',
    message: 'The audio contains {measuredS} s of speech; at least {requiredS} s are required.',
    when: 'The audio is long enough, but contains too little speech for a voiceprint or a comparison.',
  },
  LISTED_VOICEPRINT_FOREIGN: {
    status: 400,
    code: 'validation_error',
    message: 'Entry {entry} of voiceprints was not made by {model}. Such a speaker must be enrolled again.',
    when: 'The list contains a voiceprint of another model or product.',
  },
  VOICEPRINT_FOREIGN: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected an embedding made by {model} for voice_vector but received one that was altered or made by another model. Enroll the speaker again.',
    when: 'The voiceprint was not made by the loaded speaker model, so there is no similarity to report.',
  },
  AI_GENERATED_VOICE: {
    status: 403,
    code: 'forbidden_error',
    message: 'The voice was detected as AI-generated with a confidence of {percent}%.',
    when: 'The voice sample for verification is AI-generated; also for enrolment if `VERAVOX_ENROLL_AUTHENTICITY` is `reject`.',
  },
  NO_SPEAKER_MODEL: {
    status: 503,
    code: 'unavailable',
    message:
      'Voice identity needs a speaker model, and this server has none. Its operator must add one; retry after {retryAfterS} s.',
    when: 'A request for voice identity, but the manifest lists no model with the task `speaker`.',
    retryAfterS: 300,
  },
  // Keys, paths and slow bodies
  UNAUTHORIZED: {
    status: 401,
    code: 'unauthorized',
    message: 'The x-api-key header is missing or does not hold an active API key.',
    when: 'The key is missing, unknown, expired or revoked (v1).',
  },
  UNAUTHORIZED_LEGACY: {
    status: 403,
    code: 'unauthorized',
    message: 'The x-api-key header is missing or does not hold an active API key.',
    when: 'The key is missing, unknown, expired or revoked (v0 and the unversioned base).',
  },
  FORBIDDEN: {
    status: 403,
    code: 'forbidden',
    message: 'The API key lacks the scope {scope}.',
    when: 'The key is valid, but lacks the scope that the route requires.',
  },
  NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no resource at {path}. {hint}',
    when: 'The path is unknown. The hint points out a path with two versions.',
  },
  JOB_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'The account has no such job.',
    when: 'The id is wrong or of another account, or the job ended longer ago than `VERAVOX_JOB_RETENTION_DAYS`.',
  },
  SCORES_DIFFER: {
    status: 400,
    code: 'validation_error',
    message:
      'The profile or named threshold of this job is for other weights, another recipe or another calibration of {model} than the loaded ones. Make it again, then create the job again.',
    when: 'Only as the failure of a job or a line of a batch: its detector was replaced after the job was made, so its profile or operating point no longer holds.',
  },
  PROFILE_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'The account has no such profile, or not this version of it.',
    when: 'The name is wrong, of another account, or without a profile for the detector; or the profile belongs to the operator, and an account cannot change it.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    code: 'method_not_allowed',
    s3Code: 'MethodNotAllowed',
    message: 'The method {method} is not allowed here; allowed: {allowed}.',
    when: 'The path exists, but not for this method; `Allow` lists the allowed ones.',
  },
  RECEIVE_TIMEOUT: {
    status: 408,
    code: 'timeout',
    s3Code: 'RequestTimeout',
    message: 'The request body did not arrive within {timeoutMs} ms.',
    when: 'The body arrives too slowly.',
  },
  RECEIVE_TOO_SLOW: {
    status: 408,
    code: 'timeout',
    s3Code: 'RequestTimeout',
    message:
      'The request body arrived too slowly while other requests were waiting: {receivedBytes} bytes in {seconds} s; retry later.',
    when: 'A slow or stalled body occupies a permit or upload memory that other requests are waiting for.',
  },
  ...signInEntries,
  ...adminEntries,
  // The server
  RATE_LIMITED: {
    status: 429,
    code: 'rate_limited',
    message: 'The API key has used all of its {limit} requests per {windowS} s; retry after {retryAfterS} s.',
    when: 'The key exceeds its rate. After `Retry-After`, requests are accepted again, unless other requests of the key use up the rate first.',
    retryAfterS: 'known',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 400,
    code: 'validation_error',
    message: 'Expected a new idempotency_key but received that of another job with other parameters.',
    when: 'An earlier request of the account with the same `idempotency_key` asked for something else.',
  },
  MANIFEST_INVALID: {
    status: 400,
    code: 'validation_error',
    message: 'The manifest cannot be used: {problem}.',
    when: 'Only in the field `error` of a batch: its manifest is neither CSV with a header nor JSON lines, or has more than 100,000 lines.',
  },
  WEBHOOK_HOST_REFUSED: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected a link to a host that the operator allows for callback_url but received one to {origin}.',
    when: 'The link has another scheme, host or port than those in `VERAVOX_WEBHOOK_HOSTS`. The server resolved and sent nothing.',
  },
  WEBHOOK_ADDRESS_REFUSED: {
    status: 400,
    code: 'validation_error',
    message:
      'Expected a host with only public addresses for callback_url but received {host}. The operator can allow private receivers with VERAVOX_WEBHOOK_PRIVATE_HOSTS.',
    when: 'An allowed host resolves to a private, loopback, link-local or other special address that `VERAVOX_WEBHOOK_PRIVATE_HOSTS` does not have. The server sent nothing to it.',
  },
  WEBHOOK_SECRET_MISSING: {
    status: 400,
    code: 'validation_error',
    message: 'The account has no secret to sign webhooks with: ask the operator for one.',
    when: 'The request has a `callback_url`, and nobody has run `veravox webhooks create-secret` for the account.',
  },
  WORKER_DIED: {
    status: 500,
    code: 'internal_error',
    message: 'The worker of the job was killed or lost its connection to the database.',
    when: 'Only in the field `error` of a job: its worker gave no sign of life for half a minute. Other workers continue the job or batch, five times at most.',
  },
  TOO_MANY_JOBS: {
    status: 429,
    code: 'rate_limited',
    message: 'The account has reached its limit of unfinished jobs; retry after {retryAfterS} s.',
    when: 'The account has `VERAVOX_ACCOUNT_MAX_JOBS` jobs, or 10 batches, that are queued or running.',
    retryAfterS: 60,
  },
  TOO_MANY_UPLOADS: {
    status: 429,
    code: 'rate_limited',
    message:
      'The account has reached its limit of uploads for automatic analysis that have not arrived; retry after {retryAfterS} s.',
    when: 'With a bucket, links for the entity `analysis`: the account would have more than 10,000 for files that have not arrived. Each counts until its file is there, or an hour after the link ended.',
    retryAfterS: 60,
  },
  CONCURRENCY_LIMITED: {
    status: 429,
    code: 'rate_limited',
    message: 'The API key has reached its limit of {limit} requests in flight; retry after {retryAfterS} s.',
    when: 'The key has reached its limit of concurrent requests, or its share of all requests in flight.',
    retryAfterS: 1,
  },
  OVERLOADED: {
    status: 503,
    code: 'unavailable',
    s3Code: 'SlowDown',
    message: 'The server is at its limit of {limit}; retry after {retryAfterS} s.',
    when: 'The queue is too long, or permits or upload memory are used up, in total or for this key, account or address: see docs/overload.md.',
    retryAfterS: 'known',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The database cannot be used now: {reason}; retry after {retryAfterS} s.',
    when: 'PostgreSQL does not answer or is read-only, the disk is full or read-only, or another process locks the database for too long; the log has the cause.',
    retryAfterS: 5,
  },
  QUEUE_DEADLINE: {
    status: 503,
    code: 'unavailable',
    message: 'The request waited longer than {timeoutMs} ms for a free worker; retry after {retryAfterS} s.',
    when: 'The request was accepted, but not started or scored in time.',
    retryAfterS: 2,
  },
  STOPPING: {
    status: 503,
    code: 'unavailable',
    s3Code: 'ServiceUnavailable',
    message: 'The server is shutting down; retry after {retryAfterS} s.',
    when: 'The server is stopping gracefully.',
    retryAfterS: 5,
  },
  FETCH_UNREACHABLE: {
    status: 503,
    code: 'unavailable',
    message: 'The storage behind presigned_url could not be reached; retry after {retryAfterS} s.',
    when: 'The host of the link has no address, or refuses or drops the connection.',
    retryAfterS: 2,
  },
  FETCH_FAILED: {
    status: 503,
    code: 'unavailable',
    message: 'The storage behind presigned_url failed with status {status}; retry after {retryAfterS} s.',
    when: 'The storage answers with a 5xx or an unexpected status.',
    retryAfterS: 2,
  },
  FETCH_INSECURE: {
    status: 500,
    code: 'internal_error',
    message: 'A secure connection to the storage behind presigned_url could not be established.',
    when: 'The TLS handshake fails, for example because the certificate is not trusted.',
  },
  FETCH_TIMEOUT: {
    status: 500,
    code: 'internal_error',
    message: 'The storage behind presigned_url {problem}.',
    when: 'The storage pauses for too long, or the whole file takes too long. In a job or batch: the file arrives too slowly.',
  },
  ANALYSIS_TIMEOUT: {
    status: 500,
    code: 'internal_error',
    message: 'The analysis did not finish within {timeoutMs} ms.',
    when: 'The analysis exceeded its time limit.',
  },
  NON_FINITE_OUTPUT: {
    status: 500,
    code: 'internal_error',
    message: 'The model {model} produced an output that is not a finite number.',
    when: 'The model failed. Such a number is never returned as a score.',
  },
  INTERNAL: {
    status: 500,
    code: 'internal_error',
    s3Code: 'InternalError',
    message:
      "The request failed inside the server. Find the cause in the server's log by the correlation id.",
    when: 'A fault of the server. A retry may succeed.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorKey = keyof typeof entries;
export const catalogue: Readonly<Record<ErrorKey, CatalogueEntry>> = entries;
