// SPDX-License-Identifier: Apache-2.0
import { type Job, type JobSummary, type Prediction, VeravoxError, verdictOf } from 'veravox-client';
import type { ServerFacts } from '../../logic/server-facts.js';
import { type Stage, stagesOf } from '../../logic/server-timing.js';
import type { SentRequest } from '../../logic/snippets.js';
import { baseUrl, type Session } from '../../session.js';
import { ENTITY, type ServerTraces } from './server-traces.js';
import { fieldsOf, type Settings, type Source, thresholdOf } from './settings.js';

export type Step =
  | { readonly is: 'uploading'; readonly sentBytes: number; readonly totalBytes: number | undefined }
  | { readonly is: 'analysing' }
  | { readonly is: 'job'; readonly job: JobSummary };

export interface Outcome {
  /** As the request names it. */
  readonly model: string;
  /** Exact id; undefined for jobs, which do not tell it. */
  readonly modelId: string | undefined;
  readonly threshold: number;
  readonly prediction: Prediction;
  /** Empty for jobs. */
  readonly stages: readonly Stage[];
  readonly request: SentRequest;
}

export interface AnalysisContext {
  readonly facts: ServerFacts;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly session: Session;
  /** Of all models that are compared: they share a stored recording. */
  readonly traces: ServerTraces;
  onStep(step: Step): void;
}

/** In a row, of a job that is followed: it runs on while the connection is cut. */
const RECONNECTIONS = 4;

/**
 * Analyses a recording: at once if it is small enough for that, otherwise as a job.
 * @throws VeravoxError, Error if the job failed, the signal's reason
 */
export async function analyse(source: Source, model: string, context: AnalysisContext): Promise<Outcome> {
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
  { settings, facts }: AnalysisContext,
): Omit<Outcome, 'prediction' | 'modelId' | 'stages'> {
  return {
    model,
    threshold: thresholdOf(settings, facts),
    request: {
      baseUrl,
      kind,
      source: source.is === 'file' ? { fileName: source.file.name } : { link: source.link },
      fields: fieldsOf(settings, model, facts),
    },
  };
}

async function atOnce(source: Source, model: string, context: AnalysisContext): Promise<Outcome> {
  const { settings, facts, signal, session, onStep } = context;
  let headers = new Headers();
  const options = {
    ...fieldsOf(settings, model, facts),
    signal,
    onHeaders: (all: Headers) => {
      headers = all;
    },
  };
  onStep({ is: 'analysing' });
  const prediction = await session.call((client) =>
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
    modelId: headers.get('x-model-ids') ?? undefined,
    stages: stagesOf(headers.get('server-timing') ?? ''),
  };
}

async function asJob(source: Source, model: string, context: AnalysisContext): Promise<Outcome> {
  const { settings, facts, signal, traces } = context;
  const input =
    source.is === 'link'
      ? { presignedUrl: source.link }
      : { key: await stored(source.file, context), entity: ENTITY };
  const { id } = await traces.createJob(input, fieldsOf(settings, model, facts));
  signal.throwIfAborted();
  const job = await finished(id, context);
  traces.noteEnd();
  const prediction = verdictOf(job);
  if (prediction === null) throw new Error(job.error?.message ?? `The job was ${job.state}.`);
  return {
    ...outcomeOf('job', source, model, context),
    prediction,
    modelId: undefined,
    stages: [],
  };
}

/** @returns the key of the stored recording */
async function stored(file: File, { signal, traces, onStep }: AnalysisContext): Promise<string> {
  const onProgress = (progress: Omit<Extract<Step, { is: 'uploading' }>, 'is'>): void =>
    onStep({ is: 'uploading', ...progress });
  return traces.copy ?? traces.store(file, { signal, onProgress });
}

/** Follows a job to its end. */
const finished = (id: string, { session, signal, onStep }: AnalysisContext): Promise<Job> =>
  session.call(async (client) => {
    for await (const job of client.followJob(id, { signal, maxRetries: RECONNECTIONS })) {
      onStep({ is: 'job', job });
    }
    return client.getJob(id, { signal });
  });
