// SPDX-License-Identifier: Apache-2.0
import { MIN_LARGE_FILE_BYTES } from '../contract/limits.js';
import { parseAllowedHost } from './allowed-host.js';
import { choice, integer, list, MEBIBYTE, text, threshold } from './option.js';

/** What a request may ask for, and how long it may take. */
export const analysisOptions = {
  maxPredictBytes: integer({
    variable: 'VERAVOX_MAX_PREDICT_BYTES',
    default: 5 * MEBIBYTE,
    minimum: 1024,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description: 'Largest file for `/v1/predict`; a larger one is refused with 413 as soon as that is known.',
  }),
  maxPredictDurationS: integer({
    variable: 'VERAVOX_MAX_PREDICT_DURATION_S',
    default: 600,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Longest audio for `/v1/predict`; longer audio is refused with 413, never truncated.',
  }),
  maxLargeFileBytes: integer({
    variable: 'VERAVOX_MAX_LARGE_FILE_BYTES',
    default: 100 * MEBIBYTE,
    minimum: MIN_LARGE_FILE_BYTES,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Largest file for `/v1/predict/large-file`; a larger one is refused with 413. Upload memory has to hold at least one.',
  }),
  maxLargeFileDurationS: integer({
    variable: 'VERAVOX_MAX_LARGE_FILE_DURATION_S',
    default: 21_600,
    minimum: 1,
    maximum: 604_800,
    unit: 's',
    description:
      'Longest audio for `/v1/predict/large-file`; longer audio is refused with 413, never truncated.',
  }),
  maxVoiceidBytes: integer({
    variable: 'VERAVOX_MAX_VOICEID_BYTES',
    default: 25 * MEBIBYTE,
    minimum: 1024,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Largest file for `/v1/voiceid/enroll` and `/v1/voiceid/verify`; a larger one is refused with 413.',
  }),
  maxVoiceidDurationS: integer({
    variable: 'VERAVOX_MAX_VOICEID_DURATION_S',
    default: 600,
    minimum: 10,
    maximum: 86_400,
    unit: 's',
    description: 'Longest audio for voice identity; longer audio is refused with 413, never truncated.',
  }),
  enrollAuthenticity: choice({
    variable: 'VERAVOX_ENROLL_AUTHENTICITY',
    choices: ['reject', 'flag', 'skip'],
    default: 'reject',
    description:
      'What enrolment does with an AI-generated voice: refuse it with 403, accept it and say so in a header, or not check at all.',
  }),
  speakerModel: text({
    variable: 'VERAVOX_SPEAKER_MODEL',
    accepts: 'the id of a speaker model in the manifest',
    default: '',
    defaultText: 'the first in the manifest',
    description:
      'Which model makes and compares voiceprints. Voiceprints of another model are refused: speakers have to enrol again.',
  }),
  matchThreshold: threshold({
    variable: 'VERAVOX_MATCH_THRESHOLD',
    defaultText: "the model's operating point",
    description:
      'Similarity from which two voices count as the same, or an operating point of the speaker model that `veravox calibrate` has found; a higher one lets fewer strangers pass and refuses more of the right people.',
  }),
  receiveTimeoutMs: integer({
    variable: 'VERAVOX_RECEIVE_TIMEOUT_MS',
    default: 60_000,
    minimum: 100,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'How long a request body may take to arrive; then 408.',
  }),
  largeFileReceiveTimeoutMs: integer({
    variable: 'VERAVOX_LARGE_FILE_RECEIVE_TIMEOUT_MS',
    default: 600_000,
    minimum: 100,
    maximum: 86_400_000,
    unit: 'ms',
    description:
      'The same for `/v1/predict/large-file`; the default lets 100 MiB arrive at 1.4 Mbit/s. A slow upload holds its memory for as long.',
  }),
  queueTimeoutMs: integer({
    variable: 'VERAVOX_QUEUE_TIMEOUT_MS',
    default: 10_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'How long a request may wait for upload memory or a free thread; then 503.',
  }),
  analysisTimeoutMs: integer({
    variable: 'VERAVOX_ANALYSIS_TIMEOUT_MS',
    default: 120_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'How long preparing and scoring one file may take; then 500.',
  }),
  largeFileTimeoutMs: integer({
    variable: 'VERAVOX_LARGE_FILE_TIMEOUT_MS',
    default: 900_000,
    minimum: 1,
    maximum: 86_400_000,
    unit: 'ms',
    description:
      'The same for `/v1/predict/large-file`, whose files may also wait this long for a thread; then 503.',
  }),
  fetchAllowedHosts: list({
    variable: 'VERAVOX_FETCH_ALLOWED_HOSTS',
    accepts: '`[scheme://][*.]host[:port]`',
    parseItem: parseAllowedHost,
    description:
      'Hosts that a `presigned_url` may point to beside the configured storage; https unless the entry says http. Clients can make the server fetch whatever these hosts serve; private addresses stay refused.',
  }),
  fetchTimeoutMs: integer({
    variable: 'VERAVOX_FETCH_TIMEOUT_MS',
    default: 60_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'How long fetching the file of a `presigned_url` may take; then 500.',
  }),
  fetchStallTimeoutMs: integer({
    variable: 'VERAVOX_FETCH_STALL_TIMEOUT_MS',
    default: 10_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'How long the storage may take to resolve, connect, answer or send the next bytes of such a file; then 500.',
  }),
  stopGraceMs: integer({
    variable: 'VERAVOX_STOP_GRACE_MS',
    default: 5000,
    minimum: 0,
    maximum: 600_000,
    unit: 'ms',
    description:
      'After a stop signal, how long the server goes on accepting while `/readyz` says 503, so that a load balancer can turn away first.',
  }),
  stopDrainMs: integer({
    variable: 'VERAVOX_STOP_DRAIN_MS',
    default: 30_000,
    minimum: 0,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'After the grace period, how long requests in flight may take before they are cut off.',
  }),
};
