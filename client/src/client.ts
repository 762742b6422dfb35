// SPDX-License-Identifier: Apache-2.0
import { type FieldValues, fileBody, formBody, jsonBody, type OnUploadProgress } from './body.js';
import { jsonOf } from './error.js';
import { type FileInput, sourceOf } from './file-input.js';
import { type FollowOptions, followed } from './followed.js';
import { randomId } from './random-id.js';
import { serverAddress } from './server-address.js';
import { LiveStream, OPENING_MS, type StreamOptions } from './stream.js';
import { type Call, type CallOptions, pause, Transport } from './transport.js';
import type {
  BatchFields,
  DeletedFiles,
  DeletedProfile,
  EnrollFields,
  Enrollment,
  EnrollSamplesFields,
  Identification,
  IdentifyFields,
  Job,
  JobFields,
  JobList,
  JobSummary,
  LargeFileFields,
  LargeFilePrediction,
  LinkList,
  MadeProfile,
  NewProfileFields,
  PredictFields,
  Prediction,
  Profile,
  ProfileList,
  SampleEnrollment,
  StreamTicket,
  Verification,
  VerifyFields,
} from './types.js';

export interface ClientOptions {
  /** The server's address, such as `http://127.0.0.1:8080`, with or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Default: 600,000. */
  readonly timeoutMs?: number | undefined;
  /** How often an answer of 429 or 503 is tried again; default: 4. */
  readonly maxRetries?: number | undefined;
  /** The longest first pause before a retry, if the server asks for none; default: 500. */
  readonly backoffMs?: number | undefined;
  /** In place of the global `fetch`, for a proxy or other limits. */
  readonly fetch?: typeof fetch | undefined;
}

export interface UploadOptions extends CallOptions {
  readonly onUploadProgress?: OnUploadProgress | undefined;
  /** Default: the name of a File, or `audio`. */
  readonly filename?: string | undefined;
}

/** A file that the server fetches from its object storage, or from a host that its operator has allowed. */
export interface PresignedInput {
  readonly presignedUrl: string;
}

/** The recording of a job: a stored file, or behind a link. */
export type JobInput = { readonly key: string; readonly entity?: string } | PresignedInput;

export interface JobOptions
  extends Omit<JobFields, 'presigned_url' | 'key' | 'entity' | 'idempotency_key'>,
    CallOptions {
  /** Default: a random one, so that a request that is sent again makes no second job. */
  readonly idempotencyKey?: string | undefined;
}

export interface BatchOptions
  extends Omit<BatchFields, 'lines' | 'presigned_url' | 'key' | 'entity' | 'idempotency_key'>,
    CallOptions {
  /** As for `createJob`. */
  readonly idempotencyKey?: string | undefined;
}

export interface JobFilter {
  readonly state?: Job['state'] | undefined;
  /** Jobs per page, 100 at most; default: 20. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of a page: continues after it. */
  readonly cursor?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Between two looks; default: 1000. */
  readonly pollMs?: number | undefined;
  readonly onJob?: ((job: Job) => void) | undefined;
}

export interface ListedVoiceprint {
  readonly id: string;
  readonly embedding: readonly number[] | Float32Array;
}

export type Link = LinkList['url'][number];

const never = new AbortController().signal;

const jobUrl = (id: string): string => `/jobs/${encodeURIComponent(id)}`;

/** Little-endian float32: half as long as a list of numbers. */
function asBase64(embedding: readonly number[] | Float32Array): string {
  const bytes = new DataView(new ArrayBuffer(4 * embedding.length));
  embedding.forEach((x, i) => {
    bytes.setFloat32(4 * i, x, true);
  });
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}

/** Of a deletion's query. A server takes 4 KiB of head in all, and proxies add headers. */
const MAX_KEYS = 100;
const MAX_KEY_CHARS = 2000;

/** The queries of as many deletions as the keys need. */
function deletionQueries(keys: readonly string[], entity: string): readonly string[] {
  let last: string[] = [];
  const groups = [last];
  let chars = 0;
  for (const key of new Set(keys)) {
    const pair = `&${new URLSearchParams({ key })}`;
    if (last.length > 0 && (last.length === MAX_KEYS || chars + pair.length > MAX_KEY_CHARS)) {
      last = [];
      groups.push(last);
      chars = 0;
    }
    last.push(pair);
    chars += pair.length;
  }
  return groups.map((pairs) => `${new URLSearchParams({ entity })}${pairs.join('')}`);
}

export interface ProfileOptions extends Omit<NewProfileFields, 'name'>, UploadOptions {
  /** AI-generated recordings of the channel, which must not pass. */
  readonly generated?: readonly FileInput[] | undefined;
}

export interface ModelChoice {
  /** The detector, if several have a profile of this name. */
  readonly model?: string | undefined;
}

const profileUrl = (name: string, { model }: ModelChoice = {}): string =>
  `/profiles/${encodeURIComponent(name)}${model === undefined ? '' : `?${new URLSearchParams({ model })}`}`;

/** Splits the options of the call from the fields of the request. */
function split<Options extends UploadOptions>({
  signal,
  timeoutMs,
  maxRetries,
  onHeaders,
  onUploadProgress,
  filename,
  ...fields
}: Options) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return {
    call: { signal, timeoutMs, maxRetries, onHeaders },
    onUploadProgress,
    filename,
    fields: Object.fromEntries(given) as FieldValues,
  };
}

/** Speaks v1 of the service. Every method rejects with VeravoxError when the server refuses. */
export class VeravoxClient {
  readonly #transport: Transport;
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxRetries: number;

  constructor({ baseUrl, apiKey, ...options }: ClientOptions) {
    this.#baseUrl = `${serverAddress(baseUrl)}/v1`;
    this.#headers = { 'x-api-key': apiKey };
    this.#maxRetries = options.maxRetries ?? 4;
    this.#transport = new Transport({
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: options.timeoutMs ?? 600_000,
      maxRetries: this.#maxRetries,
      backoffMs: options.backoffMs ?? 500,
    });
  }

  /** Is the voice in this recording AI-generated? */
  async predict(
    input: FileInput | PresignedInput,
    options: PredictFields & UploadOptions = {},
  ): Promise<Prediction> {
    if (!('presignedUrl' in input)) return this.#sendFile('/predict', 'file', input, options);
    return this.#sendLink('/predict', input, options);
  }

  /** The same for files of 5 MB to 100 MiB. */
  async predictLargeFile(
    input: FileInput | PresignedInput,
    options: LargeFileFields & UploadOptions = {},
  ): Promise<LargeFilePrediction> {
    const path = '/predict/large-file';
    if ('presignedUrl' in input) return this.#sendLink(path, input, options);
    const { filename } = options;
    return this.#sendFile(path, 'file', input, options, filename === undefined ? {} : { filename });
  }

  /** The same for a recording of any length, in the background. Needs no open connection: see `waitForJob`. */
  createJob(input: JobInput, { idempotencyKey, ...options }: JobOptions = {}): Promise<Job> {
    return this.#createJob('/jobs', input, idempotencyKey, options);
  }

  /** Analyses all recordings that a manifest names, as one job: see `waitForJob`, and `batch` in its answer. */
  createBatch(
    manifest: JobInput | { readonly lines: string },
    { idempotencyKey, ...options }: BatchOptions = {},
  ): Promise<Job> {
    return this.#createJob('/batches', manifest, idempotencyKey, options);
  }

  getJob(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#json({ method: 'GET', url: jobUrl(id) }, options);
  }

  /** The account's jobs without their results, the newest first. */
  listJobs({ state, limit, cursor, ...options }: JobFilter & CallOptions = {}): Promise<JobList> {
    const given = Object.entries({ state, limit, cursor }).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams();
    for (const [name, value] of given) query.set(name, String(value));
    return this.#json({ method: 'GET', url: `/jobs?${query}` }, options);
  }

  /** @returns the job; one that had already ended is unchanged */
  cancelJob(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#json({ method: 'DELETE', url: jobUrl(id) }, options);
  }

  /**
   * Waits for the end of a job. There is no limit of time but the `signal`; `timeoutMs` is that of each look.
   * @returns the job, which has succeeded, failed or been cancelled
   */
  async waitForJob(id: string, { pollMs = 1000, onJob, ...options }: WaitOptions = {}): Promise<Job> {
    for (;;) {
      const job = await this.getJob(id, options);
      onJob?.(job);
      if (job.finished_at !== null) return job;
      await pause(pollMs, options.signal ?? never);
    }
  }

  /**
   * The job as it is, and after each change until it has ended: the last one has succeeded, failed or been cancelled. A
   * connection that is cut, or that brings nothing for `silenceMs`, is opened again, `maxRetries` times in a row; each lasts for
   * `timeoutMs` at most.
   */
  async *followJob(id: string, options: FollowOptions = {}): AsyncGenerator<JobSummary, void, void> {
    const { maxRetries = this.#maxRetries } = options;
    const call = {
      method: 'GET',
      url: `${this.#baseUrl}${jobUrl(id)}/events`,
      headers: this.#headers,
    } as const;
    for await (const data of followed(this.#transport, () => call, { ...options, maxRetries })) {
      const job = JSON.parse(data) as JobSummary;
      yield job;
      if (job.finished_at !== null) return;
    }
  }

  /**
   * Streams audio while it is spoken, and goes on after a lost connection. Needs a WebSocket: the global one, or that of a package.
   * @returns the stream once it has begun
   */
  stream(options: StreamOptions): Promise<LiveStream> {
    const ticket = async (): Promise<string> => {
      const answer = await this.#json<StreamTicket>(
        { method: 'POST', url: '/stream/tickets' },
        { timeoutMs: OPENING_MS },
      );
      return answer.ticket;
    };
    return LiveStream.open(`${this.#baseUrl.replace(/^http/, 'ws')}/stream`, {
      ...options,
      ticket: options.ticket ?? ticket,
    });
  }

  /** Makes a voiceprint of a clean sample. The server does not keep it: store `embedding`. */
  enroll(sample: FileInput, options: EnrollFields & UploadOptions = {}): Promise<Enrollment> {
    return this.#sendFile('/voiceid/enroll', 'audio_file', sample, options);
  }

  /**
   * Makes one voiceprint of up to ten samples of one speaker, with feedback on each. `onUploadProgress` counts every file from
   * zero.
   */
  enrollSamples(
    samples: readonly FileInput[],
    options: EnrollSamplesFields & UploadOptions = {},
  ): Promise<SampleEnrollment> {
    return this.#sendFiles('/voiceid/enroll-samples', 'audio_file', samples, options);
  }

  /** @param embedding as `enroll` gave it */
  verify(
    sample: FileInput,
    embedding: readonly number[] | Float32Array,
    options: Omit<VerifyFields, 'voice_vector'> & UploadOptions = {},
  ): Promise<Verification> {
    const voice_vector = JSON.stringify([...embedding]);
    return this.#sendFile('/voiceid/verify', 'audio_file', sample, options, { voice_vector });
  }

  /**
   * Whose voice of a list is this?
   * @param voiceprints up to 10,000, with the embeddings that `enroll` gave
   */
  identify(
    sample: FileInput,
    voiceprints: readonly ListedVoiceprint[],
    options: Omit<IdentifyFields, 'voiceprints'> & UploadOptions = {},
  ): Promise<Identification> {
    const listed = voiceprints.map(({ id, embedding }) => ({ id, voice_vector: asBase64(embedding) }));
    const list = { voiceprints: JSON.stringify(listed) };
    return this.#sendFile('/voiceid/search', 'audio_file', sample, options, list);
  }

  /**
   * Makes a profile of ten or more genuine recordings of your own channel, or its next version. Rejects with `validation_error` if
   * recordings left out show no gain, or at too high a cost: then nothing is saved. The server keeps no audio.
   */
  makeProfile(
    name: string,
    genuine: readonly FileInput[],
    { generated = [], ...options }: ProfileOptions = {},
  ): Promise<MadeProfile> {
    return this.#sendFiles('/profiles', 'file', genuine, options, { name }, { generated });
  }

  /** The version in use of each profile that the account may use. */
  async listProfiles(options: CallOptions = {}): Promise<ProfileList['profiles']> {
    const { profiles } = await this.#json<ProfileList>({ method: 'GET', url: '/profiles' }, options);
    return profiles;
  }

  /** A profile with its correction, its figures and its versions. */
  getProfile(name: string, { model, ...options }: ModelChoice & CallOptions = {}): Promise<Profile> {
    return this.#json({ method: 'GET', url: profileUrl(name, { model }) }, options);
  }

  /** Has requests use an earlier or later version of a profile of the account's own. */
  useProfileVersion(
    name: string,
    version: number,
    { model, ...options }: ModelChoice & CallOptions = {},
  ): Promise<Profile> {
    const body = jsonBody({ version, ...(model !== undefined && { model }) });
    return this.#json({ method: 'POST', url: `${profileUrl(name)}/use`, body }, options);
  }

  /** Deletes a profile of the account's own with all versions, for all detectors or for one. */
  async deleteProfile(name: string, { model, ...options }: ModelChoice & CallOptions = {}): Promise<void> {
    await this.#json<DeletedProfile>({ method: 'DELETE', url: profileUrl(name, { model }) }, options);
  }

  /** Links for `upload`, one for each key. */
  createUploadLinks(
    keys: readonly string[],
    { entity = 'analysis', ...call }: CallOptions & { readonly entity?: string } = {},
  ): Promise<LinkList> {
    return this.#json({ method: 'POST', url: '/file', body: jsonBody({ keys, entity }) }, call);
  }

  /** Links for `download`, one for each stored object whose key begins with the prefix. */
  getDownloadLinks(
    keyPrefix: string,
    { entity = 'analysis', ...call }: CallOptions & { readonly entity?: string } = {},
  ): Promise<LinkList> {
    const query = new URLSearchParams({ key_prefix: keyPrefix, entity });
    return this.#json({ method: 'GET', url: `/file?${query}` }, call);
  }

  /** Sends a file to object storage. A stream needs its `sizeBytes`. */
  async upload(link: Link, file: FileInput, options: UploadOptions = {}): Promise<void> {
    const { call, onUploadProgress } = split(options);
    const source = sourceOf(file);
    if (source.sizeBytes === undefined) {
      throw new TypeError(
        'Expected sizeBytes for the stream but received none: object storage insists on it.',
      );
    }
    const body = fileBody(source, onUploadProgress);
    const response = await this.#transport.send(
      { method: 'PUT', url: link.value, body, fallbackCode: 'storage_error' },
      call,
    );
    await response.body?.cancel();
  }

  /**
   * Deletes stored files for good, any number of them, in several requests if need be; a missing one is no error.
   * @returns the files now gone, as `<entity>/<key>`
   */
  async deleteFiles(
    keys: readonly string[],
    { entity = 'analysis', ...options }: CallOptions & { readonly entity?: string } = {},
  ): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const query of deletionQueries(keys, entity)) {
      const url = `/file?${query}`;
      const { deleted } = await this.#json<DeletedFiles>({ method: 'DELETE', url }, options);
      gone.push(...deleted);
    }
    return gone;
  }

  /** @returns the response with the object as its body, so that it can be streamed */
  download(link: Link, options: CallOptions = {}): Promise<Response> {
    return this.#transport.send({ method: 'GET', url: link.value, fallbackCode: 'storage_error' }, options);
  }

  #sendLink<Result>(url: string, { presignedUrl }: PresignedInput, options: UploadOptions): Promise<Result> {
    const { call, fields, filename } = split(options);
    const body = jsonBody({
      ...fields,
      ...(filename !== undefined && { filename }),
      presigned_url: presignedUrl,
    });
    return this.#json({ method: 'POST', url, body }, call);
  }

  #createJob(
    url: string,
    input: JobInput | { readonly lines: string },
    idempotencyKey: string | undefined,
    options: CallOptions,
  ): Promise<Job> {
    const { call, fields } = split(options);
    const source = 'presignedUrl' in input ? { presigned_url: input.presignedUrl } : input;
    const idempotency_key = idempotencyKey ?? randomId();
    return this.#json(
      { method: 'POST', url, body: jsonBody({ ...fields, ...source, idempotency_key }) },
      call,
    );
  }

  #sendFile<Result>(
    url: string,
    field: string,
    input: FileInput,
    options: UploadOptions,
    furtherFields: FieldValues = {},
  ): Promise<Result> {
    return this.#sendFiles(url, field, [input], options, furtherFields);
  }

  #sendFiles<Result>(
    url: string,
    field: string,
    inputs: readonly FileInput[],
    options: UploadOptions,
    furtherFields: FieldValues = {},
    furtherFiles: Readonly<Record<string, readonly FileInput[]>> = {},
  ): Promise<Result> {
    const { call, fields, onUploadProgress, filename } = split(options);
    const files = Object.entries({ [field]: inputs, ...furtherFiles }).flatMap(([name, given]) =>
      given.map((input) => {
        const source = sourceOf(input);
        return { field: name, source, filename: filename ?? source.filename ?? 'audio' };
      }),
    );
    const body = formBody(files, { ...fields, ...furtherFields }, onUploadProgress);
    return this.#json({ method: 'POST', url, body }, call);
  }

  async #json<Result>(call: Call, options: CallOptions): Promise<Result> {
    const request = { ...call, url: `${this.#baseUrl}${call.url}`, headers: this.#headers };
    const response = await this.#transport.send(request, options);
    return jsonOf<Result>(response);
  }
}
