// SPDX-License-Identifier: Apache-2.0
import type {
  Analyser,
  Analysis,
  AnalysisRequest,
  VoiceEmbedding,
} from '../../analysis/analyser/analyser.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { AnalysisInput } from './form-input.js';
import { jsonReply, type Reply, type RouteRequest } from './route.js';

/** What differs between the routes that analyse one file. */
export interface AnalysisSteps<Fields> {
  /** Called before anything is awaited. */
  receive(request: RouteRequest): Promise<AnalysisInput<Fields>>;
  plan(fields: Fields, request: RouteRequest): Omit<AnalysisRequest, 'region' | 'signal'>;
  /** @param processingS since the request had arrived */
  body(analysis: Analysis, fields: Fields, processingS: number): unknown;
}

/** What is noted of every file that was analysed, whatever it was asked. */
interface Findings extends Pick<VoiceEmbedding, 'durationS' | 'scoredWindows' | 'skipped' | 'timesMs'> {
  /** As the answer names it. */
  readonly model: string;
  /** Of all that took part; never an alias. */
  readonly modelIds: readonly string[];
}

/** Notes in a request's record what its log line, metrics and usage are made of. */
export function noteFindings(record: RequestRecord, findings: Findings): void {
  record.stagesMs = { ...record.stagesMs, ...findings.timesMs };
  record.model = findings.model;
  record.modelIds = findings.modelIds;
  record.audioS = findings.durationS;
  record.scoredWindows = findings.scoredWindows;
  record.skippedS = findings.skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
}

/**
 * Answers from a file that has been received, and gives its memory back when that is over.
 * @param answer gets the seconds since the file had arrived from its second argument
 */
export async function answerInput<Fields>(
  request: RouteRequest,
  receiving: Promise<AnalysisInput<Fields>>,
  answer: (input: AnalysisInput<Fields>, elapsedS: () => number) => Promise<Reply>,
): Promise<Reply> {
  const input = await receiving;
  try {
    request.beginTurn();
    const receivedMs = performance.now();
    return await answer(input, () => (performance.now() - receivedMs) / 1000);
  } finally {
    // Not earlier, even when the client has gone: a prepare thread may still be reading the file.
    input.release();
  }
}

/** Receives a file, has it analysed, notes in the request's record what was found out, and answers. */
export async function answerAnalysis<Fields>(
  request: RouteRequest,
  analyser: Analyser,
  steps: AnalysisSteps<Fields>,
): Promise<Reply> {
  const { record, signal, caller } = request;
  return answerInput(request, steps.receive(request), async ({ fields, region }, elapsedS) => {
    const plan = { ...steps.plan(fields, request), region, signal, owner: caller?.id ?? '' };
    const analysis = await analyser.analyse(plan);
    noteFindings(record, {
      ...analysis,
      model: plan.model,
      modelIds: [analysis.modelId],
      scoredWindows: analysis.windows.length,
    });
    return jsonReply(200, steps.body(analysis, fields, elapsedS()));
  });
}
