// SPDX-License-Identifier: Apache-2.0
import { MIN_LARGE_FILE_BYTES } from '../contract/limits.js';
import { parseAllowedHost } from './allowed-host.js';
import { choice, integer, list, MEBIBYTE, text, threshold } from './option.js';
import { PRIVATE_HOST, parsePrivateHost } from './private-host.js';

/** Limits of requests and of the time they take. */
export const analysisOptions = {
  maxPredictBytes: integer({
    variable: 'VERAVOX_MAX_PREDICT_BYTES',
    default: 5 * MEBIBYTE,
    minimum: 1024,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Largest file for `/v1/predict`. Larger ones are refused with 413 as soon as their size is known.',
  }),
  maxPredictDurationS: integer({
    variable: 'VERAVOX_MAX_PREDICT_DURATION_S',
    default: 600,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Longest audio for `/v1/predict`. Longer audio is refused with 413, never truncated.',
  }),
  maxLargeFileBytes: integer({
    variable: 'VERAVOX_MAX_LARGE_FILE_BYTES',
    default: 100 * MEBIBYTE,
    minimum: MIN_LARGE_FILE_BYTES,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Largest file for `/v1/predict/large-file`. Larger ones are refused with 413. Upload memory must hold at least one.',
  }),
  maxLargeFileDurationS: integer({
    variable: 'VERAVOX_MAX_LARGE_FILE_DURATION_S',
    default: 21_600,
    minimum: 1,
    maximum: 604_800,
    unit: 's',
    description:
      'Longest audio for `/v1/predict/large-file`. Longer audio is refused with 413, never truncated.',
  }),
  maxVoiceidBytes: integer({
    variable: 'VERAVOX_MAX_VOICEID_BYTES',
    default: 25 * MEBIBYTE,
    minimum: 1024,
    maximum: 4096 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Largest file for `/v1/voiceid/enroll` and `/v1/voiceid/verify`. Larger ones are refused with 413.',
  }),
  maxVoiceidDurationS: integer({
    variable: 'VERAVOX_MAX_VOICEID_DURATION_S',
    default: 600,
    minimum: 10,
    maximum: 86_400,
    unit: 's',
    description: 'Longest audio for voice identity. Longer audio is refused with 413, never truncated.',
  }),
  enrollAuthenticity: choice({
    variable: 'VERAVOX_ENROLL_AUTHENTICITY',
    choices: ['reject', 'flag', 'skip'],
    default: 'reject',
    description:
      'How enrolment handles an AI-generated voice: `reject` refuses it with 403, `flag` accepts it and sets a header, `skip` does not check.',
  }),
  speakerModel: text({
    variable: 'VERAVOX_SPEAKER_MODEL',
    accepts: 'the id of a speaker model in the manifest',
    default: '',
    defaultText: 'the first in the manifest',
    description:
      'Model that makes and compares voiceprints. Voiceprints of other models are refused, so after a change all speakers must enrol again.',
  }),
  matchThreshold: threshold({
    variable: 'VERAVOX_MATCH_THRESHOLD',
    defaultText: "the model's operating point",
    description:
      'Similarity from which two voices count as the same, or an operating point of the speaker model made by `veravox calibrate`. A higher value accepts fewer strangers and rejects more enrolled speakers.',
  }),
  receiveTimeoutMs: integer({
    variable: 'VERAVOX_RECEIVE_TIMEOUT_MS',
    default: 60_000,
    minimum: 100,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'Time for a request body to arrive, after which the answer is 408; for `/v1/predict/large-file` ten times as long. A slow upload occupies its memory for the whole time.',
  }),
  queueTimeoutMs: integer({
    variable: 'VERAVOX_QUEUE_TIMEOUT_MS',
    default: 10_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'Longest wait for upload memory or a free thread, after which the answer is 503.',
  }),
  analysisTimeoutMs: integer({
    variable: 'VERAVOX_ANALYSIS_TIMEOUT_MS',
    default: 120_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'Time to prepare and score one file, after which the answer is 500; for `/v1/predict/large-file` 7.5 times as long, and its files may also wait that long for a thread.',
  }),
  fetchAllowedHosts: list({
    variable: 'VERAVOX_FETCH_ALLOWED_HOSTS',
    accepts: '`[scheme://][*.]name[:port]`, names only (addresses: VERAVOX_FETCH_PRIVATE_HOSTS)',
    parseItem: parseAllowedHost,
    description:
      'Hosts allowed in `presigned_url`, in addition to the configured storage; https unless the entry says http. Clients can make the server fetch anything from these hosts. Private addresses are refused unless VERAVOX_FETCH_PRIVATE_HOSTS has them.',
  }),
  fetchPrivateHosts: list({
    variable: 'VERAVOX_FETCH_PRIVATE_HOSTS',
    accepts: PRIVATE_HOST,
    parseItem: parsePrivateHost,
    description:
      'Private hosts allowed in `presigned_url`, by http and https. A name must have private addresses; a range also allows hosts of VERAVOX_FETCH_ALLOWED_HOSTS with addresses in it. See [presigned-url.md](presigned-url.md#private-hosts).',
  }),
  fetchTimeoutMs: integer({
    variable: 'VERAVOX_FETCH_TIMEOUT_MS',
    default: 60_000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      "Time to fetch the file of a `presigned_url`, after which the answer is 500. It also limits each request to a bucket. A sixth of it limits each step: resolving the host's name, connecting, and waiting for the answer or the next bytes.",
  }),
  stopGraceMs: integer({
    variable: 'VERAVOX_STOP_GRACE_MS',
    default: 5000,
    minimum: 0,
    maximum: 600_000,
    unit: 'ms',
    description:
      'After a stop signal, how long the server keeps accepting requests while `/readyz` answers 503, so that load balancers can redirect traffic.',
  }),
  stopDrainMs: integer({
    variable: 'VERAVOX_STOP_DRAIN_MS',
    default: 30_000,
    minimum: 0,
    maximum: 3_600_000,
    unit: 'ms',
    description: 'Time for requests in flight to finish after the grace period, before they are cut off.',
  }),
};
