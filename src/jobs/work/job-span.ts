// SPDX-License-Identifier: Apache-2.0
import { traced, tracedSteps } from '../../base/tracing/traced.js';
import type { Span, Tracing } from '../../base/tracing/tracing.js';
import type { Job } from '../queue/job.js';
import type { JobRunnerParts, JobTurn } from './job-runner.js';

/**
 * Begins the span of a worker's turn with a job: a part of the trace of the request that made it. Lines of a batch have traces of
 * their own, which point to the batch's, because one trace could not hold them all.
 */
export function beginJobSpan(tracing: Tracing | undefined, job: Job): Span | undefined {
  if (tracing === undefined) return undefined;
  const { traceparent, batchId, attempts, createdAtMs } = job;
  const from = batchId === undefined ? { parent: traceparent } : { link: traceparent };
  // Later turns have waited for something else.
  if (attempts === 1 && traceparent !== undefined && batchId === undefined) {
    tracing.begin({ name: 'job wait', kind: 'internal', ...from, atMs: createdAtMs }).end();
  }
  return tracing.begin({ name: 'job', kind: 'consumer', ...from });
}

export function endJobSpan(span: Span | undefined, { id, account, attempts }: Job, turn: JobTurn): void {
  const failure = 'failure' in turn ? turn.failure.key : undefined;
  span?.end({
    problem: failure,
    facts: {
      'veravox.job_id': id,
      'veravox.account': account,
      'veravox.attempt': attempts,
      'veravox.outcome': turn.outcome,
      ...('done' in turn && {
        'veravox.audio_s': turn.done.audioS,
        'veravox.scored_windows': turn.done.scoredWindows,
      }),
    },
  });
}

/** The slow steps of a turn, as parts of its span. */
export function withSpans<Parts extends Pick<JobRunnerParts, 'openSource' | 'analyser' | 'store'>>(
  parts: Parts,
  span: Span | undefined,
): Parts {
  if (span === undefined) return parts;
  const { openSource, analyser, store } = parts;
  return {
    ...parts,
    openSource: (source, signal) => traced(span, 'open', 'client', () => openSource(source, signal)),
    analyser: {
      analyseRecording: (request) => tracedSteps(span, 'analyse', analyser.analyseRecording(request)),
    },
    store: (name, result) => traced(span, 'store', 'client', () => store(name, result)),
  };
}
