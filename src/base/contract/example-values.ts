// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { ErrorValues } from '../errors/service-error.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  enrollNeeds,
  MAX_LEGACY_FILE_BYTES,
  MAX_SEPARATE_CHANNELS,
  MIN_DURATION_S,
  MIN_LARGE_FILE_BYTES,
} from './limits.js';
import { PREFERRED_MODEL } from './model-ids.js';

const common: ErrorValues = {
  field: 'threshold',
  expected: 'a number from 0 to 1',
  received: '"2"',
  hint: '',
  allowedBytes: 5_242_880,
  requiredBytes: MIN_LARGE_FILE_BYTES,
  measuredS: 0.75,
  requiredS: MIN_DURATION_S,
  allowedS: 600,
  timeoutMs: 60_000,
  status: 403,
  host: 'storage.example.com',
  origin: 'https://storage.example.com',
  model: PREFERRED_MODEL,
  scope: 'predict',
  path: '/v1/unknown',
};

/** Used if the common ones would make no sense. */
const own: { readonly [Key in ErrorKey]?: ErrorValues } = {
  FIELD_TOO_LARGE: {
    field: 'audio_file',
    allowedBytes: 65_536,
    hint: 'If it is the file, send it in the field file.',
  },
  FIELD_MISSING: { field: 'voice_vector' },
  FILE_MISSING: { field: 'file', hint: 'There is one in the field "audio_file": send it as file.' },
  FILE_EMPTY: { field: 'file' },
  CONTENT_TYPE_INVALID: { expected: 'multipart/form-data', received: 'text/plain' },
  MULTIPART_MALFORMED: { problem: 'the final boundary is missing' },
  MULTIPART_LIMIT: { problem: 'more than 64 parts' },
  JSON_MALFORMED: { problem: 'it cannot be parsed at position 17.' },
  JSON_LIMIT: { problem: 'nested more than 8 deep' },
  BODY_TOO_LARGE: { allowedBytes: 65_536 },
  FILE_TOO_LARGE_LEGACY: { allowedBytes: MAX_LEGACY_FILE_BYTES },
  FILE_TOO_SMALL: { hint: 'POST /v1/predict takes smaller ones.' },
  RECEIVE_TOO_SLOW: { receivedBytes: 40_960, seconds: 20 },
  FETCH_REDIRECTED: { status: 302 },
  FETCH_FAILED: { status: 502 },
  FETCH_ENCODED: { encoding: 'gzip' },
  FETCH_TIMEOUT: { problem: 'sent nothing for 10000 ms' },
  ACCESS_DENIED: { problem: 'the request has no signature.' },
  LINK_EXPIRED: { expiresAt: '2026-11-21T12:00:00Z' },
  OBJECT_REQUEST_UNSUPPORTED: { what: 'the parameter uploads' },
  OBJECT_RANGE_INVALID: { range: '900-999', bytes: 500 },
  AUDIO_TOO_LONG: { measuredS: 600.5 },
  SPEECH_TOO_SHORT: { measuredS: 1.2, requiredS: enrollNeeds.minSpeechS },
  REGION_OUT_OF_RANGE: { measuredS: 12.5, startS: 10, end: '15 s' },
  CHANNELS_TOO_MANY: { channels: 16, allowed: MAX_SEPARATE_CHANNELS },
  SAMPLES_INSUFFICIENT: {
    durationS: 6,
    speechS: 5,
    requiredS: enrollNeeds.minDurationS,
    requiredSpeechS: enrollNeeds.minSpeechS,
    samples: '0: usable, 1: too_short',
  },
  SAMPLES_DISAGREE: { samples: '0: usable, 1: disagrees' },
  NO_SPEECH: { silenceThreshold: DEFAULT_SILENCE_THRESHOLD_PERCENT, unheard: '' },
  UNSUPPORTED_FORMAT: { problem: 'it looks like an HTML page.' },
  UNDECODABLE: { problem: 'The wav file has 0 channels.' },
  LISTED_VOICEPRINT_FOREIGN: { entry: 17, model: 'voiceprint-1-2026-11-22' },
  VOICEPRINT_FOREIGN: { model: 'voiceprint-1-2026-11-22' },
  AI_GENERATED_VOICE: { percent: 97.5 },
  METHOD_NOT_ALLOWED: { method: 'GET', allowed: 'POST, OPTIONS' },
  RATE_LIMITED: { limit: 600, windowS: 60, retryAfterS: 12 },
  CONCURRENCY_LIMITED: { limit: 8 },
  CSRF_REFUSED: { problem: 'its header x-csrf-token is missing or wrong' },
  SIGN_IN_LIMITED: { retryAfterS: 8 },
  ROLE_INSUFFICIENT: { role: 'admin', own: 'viewer' },
  KEY_NOT_ALLOWED: { what: 'give the scope admin' },
  JOB_NOT_RETRYABLE: { why: 'it has not failed.' },
  OVERLOADED: { limit: '1024 requests in flight' },
};

/** Values that complete the sentence of an error in the documentation. */
export const exampleValues = (key: ErrorKey): ErrorValues => ({ ...common, ...own[key] });
