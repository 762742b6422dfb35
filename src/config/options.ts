// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { parseAddressRange } from './address-range.js';
import { parseAllowedHost } from './allowed-host.js';
import type { Config } from './config.js';
import { defaultDataDir } from './data-dir.js';
import { parseCorsOrigin, parseListenAddress } from './listen-address.js';
import { choice, integer, list, type Option, optional, origin, text, threshold } from './option.js';

const mebibyte = 1024 * 1024;

/** What is smaller is not for `/v1/predict/large-file` (service interface, section 8). */
export const MIN_LARGE_FILE_BYTES = 5_000_000;

/** The one table of settings: `loadConfig` reads by it, and the README's table is made from it. */
export const options: { readonly [Name in keyof Config]: Option<Config[Name]> } = {
  port: integer({
    variable: 'PORT',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'TCP port to listen on; 0 takes a free one, which the start message names.',
  }),
  host: text({
    variable: 'HOST',
    accepts: 'a host name or an address',
    default: '127.0.0.1',
    description:
      'Address to listen on. The default is reachable from this machine only; `0.0.0.0` opens the port to the network, where a proxy should add TLS.',
  }),
  trustedProxies: list({
    variable: 'VERAVOX_TRUSTED_PROXIES',
    accepts: 'addresses or ranges such as `10.0.0.0/8`',
    parseItem: parseAddressRange,
    description:
      'Proxies whose `X-Forwarded-For` says which address a request came from. Without them it is the address that the connection came from; a range that holds clients lets them choose their address.',
  }),
  adminAddress: optional({
    variable: 'VERAVOX_ADMIN_ADDRESS',
    accepts: '`host:port`',
    defaultText: 'none: everything is on the public port',
    parseValue: parseListenAddress,
    description:
      'A second address with all routes, for operators: `/metrics` and `/docs` are only there then, and `/readyz` gives its details. It speaks HTTP without TLS and asks for no key there, so keep strangers from it.',
  }),
  tlsCertFile: text({
    variable: 'VERAVOX_TLS_CERT',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description:
      'Certificate for HTTPS in the form of PEM, followed by those between it and the root. It is read again on SIGHUP.',
  }),
  tlsKeyFile: text({
    variable: 'VERAVOX_TLS_KEY',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description: 'The private key of the certificate in the form of PEM, without a passphrase.',
  }),
  corsOrigins: list({
    variable: 'VERAVOX_CORS_ORIGINS',
    accepts: '`*` or origins such as `https://app.example`',
    parseItem: parseCorsOrigin,
    description:
      'Pages in browsers that may read answers of the API and use links of the data folder. An API key in a page can be read by everybody who opens it.',
  }),
  maxConnections: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS',
    default: 8192,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections at once; one more is closed. Fewer where the process may not open as many files: a quarter of those, up to 512, stays free for other uses.',
  }),
  maxConnectionsPerAddress: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS_PER_ADDRESS',
    default: 2048,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections of one IPv4 address or one IPv6 network of 64 bits, except trusted proxies; one more is closed. 0 sets no limit.',
  }),
  maxAnswerBytes: integer({
    variable: 'VERAVOX_MAX_ANSWER_BYTES',
    default: 64 * mebibyte,
    minimum: mebibyte,
    maximum: 64 * 1024 * mebibyte,
    unit: 'bytes',
    description:
      'Memory for answers that clients take slowly, over all connections; when it is full, further slow clients are cut off.',
  }),
  dataDir: text({
    variable: 'VERAVOX_DATA_DIR',
    accepts: 'a folder',
    default: defaultDataDir,
    defaultText:
      "`data` beside the program's own files; of a package that npm installed, `~/.local/state/veravox` (`XDG_STATE_HOME`)",
    resolve: path.resolve,
    description:
      'Folder for what must outlive a restart, such as API keys; made when missing, named at start. The default does not depend on the working directory.',
  }),
  modelsDir: text({
    variable: 'VERAVOX_MODELS_DIR',
    accepts: 'a folder that exists',
    isAccepted: (folder) => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
    default: ({ packageDir }) => path.join(packageDir, 'models'),
    defaultText: "the package's `models`",
    description: 'Folder with `manifest.json` and the ONNX files that it names.',
  }),
  device: choice({
    variable: 'VERAVOX_DEVICE',
    choices: ['auto', 'cpu', 'cuda'],
    default: 'auto',
    description:
      'What runs the models: `cuda` fails at start when CUDA cannot be loaded, `auto` falls back to the CPU and says why.',
  }),
  processes: integer({
    variable: 'VERAVOX_PROCESSES',
    default: 0,
    minimum: 0,
    maximum: 64,
    unit: 'processes',
    description:
      'Processes that share the port. A supervisor starts one again that ends, while the others go on. 0 runs the server in a single process without a supervisor. Threads, memory and requests in flight count per process; the limits of a key itself hold over all.',
  }),
  prepareThreads: integer({
    variable: 'VERAVOX_PREPARE_THREADS',
    default: ({ cores }) => Math.max(2, Math.ceil(cores / 4)),
    defaultText: 'a quarter of the cores, rounded up, at least 2',
    minimum: 1,
    maximum: 256,
    description:
      'Threads that decode audio and compute features; too few let the scoring threads starve, too many take their cores. Large files leave one of them to others, unless there is only one.',
  }),
  scoringThreads: integer({
    variable: 'VERAVOX_SCORING_THREADS',
    default: ({ cores }) => cores,
    defaultText: 'the number of cores',
    minimum: 1,
    maximum: 256,
    description:
      'Threads that run the models, each with its own copy of them in memory; more than there are cores only adds waiting.',
  }),
  decoderSandbox: choice({
    variable: 'VERAVOX_DECODER_SANDBOX',
    choices: ['auto', 'required', 'off'],
    default: 'auto',
    description:
      'A filter of system calls (seccomp) for the threads that decode: they can open no files or connections and start no programs. `auto` goes without and says so if the system has no such filter, `required` does not start then.',
  }),
  maxBatchWindows: integer({
    variable: 'VERAVOX_MAX_BATCH_WINDOWS',
    default: 4,
    minimum: 1,
    maximum: 1024,
    unit: 'windows',
    description:
      'Windows handed to a scoring thread at once at most; more than one only under load. A GPU runs them as one batch and wants 32 or more; a CPU runs one after the other, and a few spare it the handing over.',
  }),
  batchWaitMs: integer({
    variable: 'VERAVOX_BATCH_WAIT_MS',
    default: 2,
    minimum: 0,
    maximum: 1000,
    unit: 'ms',
    description:
      'On a GPU, how long an incomplete batch waits for more windows; adds at most this much to an answer. On a CPU batches never wait.',
  }),
  maxInflightBytes: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_BYTES',
    default: 256 * mebibyte,
    minimum: mebibyte,
    maximum: 64 * 1024 * mebibyte,
    unit: 'bytes',
    description:
      'Memory for uploads, over all requests; when it is full, connections are read more slowly, then refused with 503.',
  }),
  maxInflightRequests: integer({
    variable: 'VERAVOX_MAX_INFLIGHT_REQUESTS',
    default: 1024,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'requests',
    description: 'Requests admitted at once; one more is refused with 503 and `Retry-After`.',
  }),
  maxTransfers: integer({
    variable: 'VERAVOX_MAX_TRANSFERS',
    default: 256,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'transfers',
    description:
      'Uploads and downloads through links to the data folder at once, beside the requests; one more is refused with 503 and `Retry-After`.',
  }),
  maxWaitMs: integer({
    variable: 'VERAVOX_MAX_WAIT_MS',
    default: 1000,
    minimum: 1,
    maximum: 3_600_000,
    unit: 'ms',
    description:
      'Wait for a free thread that a new request may expect, by the time that requests take now; where it would be longer, the request is refused with 503 and `Retry-After` before its body is read.',
  }),
  keySharePercent: integer({
    variable: 'VERAVOX_KEY_SHARE_PERCENT',
    default: 50,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      "Of the requests in flight that others leave, what one API key may have; of the transfers, what one account's links may.",
  }),
  keyMemoryPercent: integer({
    variable: 'VERAVOX_KEY_MEMORY_PERCENT',
    default: 80,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      'Of the upload memory that others leave, what one API key may have; the default lets one key send two of the largest files at once.',
  }),
  addressSharePercent: integer({
    variable: 'VERAVOX_ADDRESS_SHARE_PERCENT',
    default: 90,
    minimum: 1,
    maximum: 100,
    unit: '%',
    description:
      'Of the requests, transfers and upload memory that others leave, what one client address may have; 100 behind a proxy that hides the addresses.',
  }),
  rateLimitRequests: integer({
    variable: 'VERAVOX_RATE_LIMIT_REQUESTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    unit: 'requests',
    description:
      'Requests that an API key may make per `VERAVOX_RATE_LIMIT_WINDOW_S`, unless the key has a limit of its own; one more is refused with 429. 0 sets no limit.',
  }),
  rateLimitWindowS: integer({
    variable: 'VERAVOX_RATE_LIMIT_WINDOW_S',
    default: 60,
    minimum: 1,
    maximum: 86_400,
    unit: 's',
    description: 'Time in which the requests of an API key are counted, from its first one on.',
  }),
  keyConcurrency: integer({
    variable: 'VERAVOX_KEY_CONCURRENCY',
    default: 512,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'requests',
    description:
      'Requests that an API key may have in flight at once, unless the key has a limit of its own; one more is refused with 429. 0 leaves it at `VERAVOX_KEY_SHARE_PERCENT`, which holds in any case.',
  }),
  audit: choice({
    variable: 'VERAVOX_AUDIT',
    choices: ['file', 'off'],
    default: 'file',
    description:
      '`file` writes a line per request of the API to `audit/<day>.jsonl` in the data folder, about 400 bytes each.',
  }),
  auditSync: choice({
    variable: 'VERAVOX_AUDIT_SYNC',
    choices: ['off', 'interval', 'each'],
    default: 'interval',
    description:
      'When audit lines are forced to the disk, so that they outlive a power failure: never, twice a second, or each as soon as its request is over.',
  }),
  auditDays: integer({
    variable: 'VERAVOX_AUDIT_DAYS',
    default: 30,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'How many days audit files are kept, counted as days on which a server ran; 0 keeps all.',
  }),
  usageDays: integer({
    variable: 'VERAVOX_USAGE_DAYS',
    default: 400,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'How many days the usage per key and day is kept, counted in the same way; 0 keeps all.',
  }),
  maxPredictBytes: integer({
    variable: 'VERAVOX_MAX_PREDICT_BYTES',
    default: 5 * mebibyte,
    minimum: 1024,
    maximum: 4096 * mebibyte,
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
    default: 100 * mebibyte,
    minimum: MIN_LARGE_FILE_BYTES,
    maximum: 4096 * mebibyte,
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
    default: 25 * mebibyte,
    minimum: 1024,
    maximum: 4096 * mebibyte,
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
  storageBucket: text({
    variable: 'VERAVOX_STORAGE_BUCKET',
    accepts: 'the name of a bucket',
    default: '',
    defaultText: 'none: files lie in the data folder',
    description:
      'S3 bucket for the files of `/file`; clients then exchange them with S3 directly. Credentials come from where the AWS SDK looks for them.',
  }),
  storageRegion: text({
    variable: 'VERAVOX_STORAGE_REGION',
    accepts: 'a region',
    default: 'us-east-1',
    description: 'Region of the bucket; part of what links are signed with.',
  }),
  storageEndpoint: origin({
    variable: 'VERAVOX_STORAGE_ENDPOINT',
    defaultText: 'AWS, in the region',
    description: 'Where the bucket is: AWS, MinIO, Ceph or another service with the S3 protocol.',
  }),
  storagePathStyle: choice({
    variable: 'VERAVOX_STORAGE_PATH_STYLE',
    choices: ['auto', 'yes', 'no'],
    default: 'auto',
    description:
      'Whether the bucket stands in the path of a URL instead of its host name; `auto` says yes where an endpoint is set.',
  }),
  storagePublicUrl: origin({
    variable: 'VERAVOX_STORAGE_PUBLIC_URL',
    defaultText: 'the endpoint; for the data folder `http://` and the host that the client has used',
    description:
      'Where links point to, when clients reach the storage by another name than this server, or this server through a proxy with TLS.',
  }),
  storageLinkLifetimeS: integer({
    variable: 'VERAVOX_STORAGE_LINK_LIFETIME_S',
    default: 900,
    minimum: 1,
    maximum: 604_800,
    unit: 's',
    description: 'How long a link of `/file` works; whoever has a link needs no key.',
  }),
  objectTtlDays: integer({
    variable: 'VERAVOX_OBJECT_TTL_DAYS',
    default: 0,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description:
      'How many days a file of `/file` is kept in the data folder, counted as days on which a server ran; then it is removed. 0 keeps it until it is deleted. In a bucket the storage decides.',
  }),
  accountMaxBytes: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_BYTES',
    default: 0,
    defaultText: '0',
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      'What the files of one account may take in the data folder; an upload beyond it is refused with 413. 0 sets no limit.',
  }),
  accountMaxObjects: integer({
    variable: 'VERAVOX_ACCOUNT_MAX_OBJECTS',
    default: 0,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'How many files one account may have in the data folder; 0 sets no limit.',
  }),
  diskReserveBytes: integer({
    variable: 'VERAVOX_DISK_RESERVE_BYTES',
    default: 256 * mebibyte,
    minimum: 0,
    maximum: 999_999_999_999_999,
    unit: 'bytes',
    description:
      'What uploads leave free on the disk under the data folder, so that keys, usage and audit can always be written; an upload beyond it is refused with 503.',
  }),
  maxObjectBytes: integer({
    variable: 'VERAVOX_MAX_OBJECT_BYTES',
    default: 5120 * mebibyte,
    minimum: 1024,
    maximum: 5_497_558_138_880,
    unit: 'bytes',
    description:
      'Largest file that a link takes into the data folder; a larger one is refused with 413. In a bucket the storage decides.',
  }),
  firstKeyFile: text({
    variable: 'VERAVOX_FIRST_KEY_FILE',
    accepts: 'a file',
    default: '',
    defaultText: 'none: the key is printed',
    description:
      'File for the API key that the first start makes, readable by its user only. Set it where standard output is kept, as a container does: whoever reads that log would have the key.',
  }),
  logFormat: choice({
    variable: 'VERAVOX_LOG_FORMAT',
    choices: ['auto', 'json', 'text'],
    default: 'auto',
    description: 'Form of the log: JSON lines, or short lines for people; `auto` is text on a terminal.',
  }),
  logLevel: choice({
    variable: 'VERAVOX_LOG_LEVEL',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    description:
      'Least severe log lines to write; `debug` adds requests for `/livez`, `/readyz` and `/metrics`.',
  }),
};
