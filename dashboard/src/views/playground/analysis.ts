// SPDX-License-Identifier: Apache-2.0
import { type Job, type JobSummary, type Prediction, VeravoxError, verdictOf } from 'veravox-client';
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';
import { type Stage, stagesOf } from '../../logic/server-timing.js';
import type { SentRequest } from '../../logic/snippets.js';
import { baseUrl } from '../../session.js';
import { type Caller, ENTITY, type ServerTraces } from './server-traces.js';
import { fieldsOf, type Settings, type Source, thresholdOf } from './settings.js';

export type Step =
  | { readonly is: 'uploading'; readonly sentBytes: number; readonly totalBytes: number | undefined }
  | { readonly is: 'analysing' }
  | {
      readonly is: 'job';
      readonly job: JobSummary;
      /** Whether the page has lost sight of it; it goes on as soon as the server is there. */
      readonly isCut: boolean;
    };

export interface Outcome {
  /** As the request names it. */
  readonly model: string;
  /** Exact id. */
  readonly modelId: string;
  readonly threshold: number;
  readonly prediction: Prediction;
  /** Empty for jobs. */
  readonly stages: readonly Stage[];
  readonly request: SentRequest;
  /** Of the job that it comes from. */
  readonly jobId?: string;
  readonly analysedAt: string;
}

export interface Analysis {
  readonly facts: ServerFacts;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** Of all models that are compared: they share a stored recording. */
  readonly traces: ServerTraces;
  onStep(step: Step): void;
}

/** In a row, before the page says that it has lost sight of a job. */
const RECONNECTIONS = 2;
/** Between further ones, for as long as the reader waits. */
const REOPEN_MS = 1000;
const MOST_REOPEN_MS = 10_000;

/**
 * Analyses a recording: at once if it is small enough for that, otherwise as a job.
 * @throws VeravoxError, Error if the job failed, the signal's reason
 */
export async function analyse(source: Source, model: string, context: Analysis): Promise<Outcome> {
  const { facts, traces } = context;
  const isStored = traces.copy !== undefined;
  if (isStored || (source.is === 'file' && source.file.size > facts.maxFileBytes)) {
    return asJob(source, model, context);
  }
  try {
    return await atOnce(source, model, context);
  } catch (error) {
    // A small file can be a long recording, and the size behind a link is not known before.
    if (error instanceof VeravoxError && error.status === 413) return asJob(source, model, context);
    throw error;
  }
}

function outcomeOf(
  kind: SentRequest['kind'],
  source: Source,
  model: string,
  { settings, facts }: Analysis,
): Omit<Outcome, 'prediction' | 'modelId' | 'stages'> {
  return {
    model,
    analysedAt: new Date().toISOString(),
    threshold: thresholdOf(settings, facts),
    request: {
      baseUrl,
      kind,
      source: source.is === 'file' ? { fileName: source.file.name } : { link: source.link },
      fields: fieldsOf(settings, model, facts),
    },
  };
}

async function atOnce(source: Source, model: string, context: Analysis): Promise<Outcome> {
  const { settings, facts, signal, caller, onStep } = context;
  let headers = new Headers();
  const options = {
    ...fieldsOf(settings, model, facts),
    signal,
    onHeaders: (all: Headers) => {
      headers = all;
    },
  };
  onStep({ is: 'analysing' });
  const prediction = await caller.call((client) =>
    source.is === 'link'
      ? client.predict({ presignedUrl: source.link }, options)
      : client.predict(source.file, {
          ...options,
          onUploadProgress: (progress) =>
            onStep(
              progress.sentBytes === progress.totalBytes
                ? { is: 'analysing' }
                : { is: 'uploading', ...progress },
            ),
        }),
  );
  return {
    ...outcomeOf('predict', source, model, context),
    prediction,
    modelId: headers.get('x-model-ids') ?? prediction.model,
    stages: stagesOf(headers.get('server-timing') ?? ''),
  };
}

async function asJob(source: Source, model: string, context: Analysis): Promise<Outcome> {
  const { settings, facts, signal, traces } = context;
  const input =
    source.is === 'link'
      ? { presignedUrl: source.link }
      : { key: await stored(source.file, context), entity: ENTITY };
  const created = await traces.createJob(input, fieldsOf(settings, model, facts));
  const { id } = created;
  signal.throwIfAborted();
  const job = await finished(created, context);
  traces.noteEnd();
  const prediction = verdictOf(job);
  if (prediction === null) throw new Error(job.error?.message ?? `The job was ${job.state}.`);
  return {
    ...outcomeOf('job', source, model, context),
    prediction,
    modelId: detectorNamed(facts, prediction.model)?.id ?? prediction.model,
    stages: [],
    jobId: id,
  };
}

/** @returns the key of the stored recording */
async function stored(file: File, { signal, traces, onStep }: Analysis): Promise<string> {
  const onProgress = (progress: Omit<Extract<Step, { is: 'uploading' }>, 'is'>): void =>
    onStep({ is: 'uploading', ...progress });
  return traces.copy ?? traces.store(file, { signal, onProgress });
}

/**
 * Follows a job to its end. It goes on without the page: while the server is away or the user must sign in again, the page
 * waits.
 */
async function finished(created: JobSummary, { caller, signal, onStep }: Analysis): Promise<Job> {
  const { id } = created;
  let seen = created;
  onStep({ is: 'job', job: seen, isCut: false });
  for (let waitMs = REOPEN_MS; ; waitMs = Math.min(MOST_REOPEN_MS, 2 * waitMs)) {
    try {
      return await caller.call(async (client) => {
        for await (const job of client.followJob(id, { signal, maxRetries: RECONNECTIONS })) {
          seen = job;
          waitMs = REOPEN_MS;
          onStep({ is: 'job', job, isCut: false });
        }
        return client.getJob(id, { signal });
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error)) throw error;
    }
    onStep({ is: 'job', job: seen, isCut: true });
    do await pause(waitMs, signal);
    while (!caller.isSignedIn());
  }
}

/** Whether it says nothing about the job: the network, the server or the session. */
const mayPass = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof VeravoxError && (error.status >= 500 || [401, 403, 429].includes(error.status)));

/** @throws the signal's reason */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
