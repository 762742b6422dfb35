// SPDX-License-Identifier: Apache-2.0
import type {
  Analyser,
  Analysis,
  AnalysisRequest,
  VoiceEmbedding,
} from '../../analysis/analyser/analyser.js';
import { analyseChannels } from '../../analysis/analyser/separate-channels.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { AnalysisInput } from './form-input.js';
import { jsonReply, type Reply, type RouteRequest } from './route.js';

/** The steps that differ between the routes that analyse one file. */
export interface AnalysisSteps<Fields> {
  /** Called before anything is awaited. */
  receive(request: RouteRequest): Promise<AnalysisInput<Fields>>;
  plan(fields: Fields, request: RouteRequest): Omit<AnalysisRequest, 'region' | 'signal'>;
  /** Whether each channel gets a verdict of its own. */
  separatesChannels?(fields: Fields): boolean;
  /** @param processingS since the request had arrived */
  body(analysis: Analysis, fields: Fields, processingS: number, channels?: readonly Analysis[]): object;
}

/** Results recorded for every analysed file, whatever the question. */
export interface Findings
  extends Pick<VoiceEmbedding, 'durationS' | 'scoredWindows' | 'skipped' | 'timesMs'> {
  /** As the answer names it. */
  readonly model: string;
  /** Of all models that took part; never an alias. */
  readonly modelIds: readonly string[];
}

/** Notes in a request's record the figures for its log line, metrics and usage. */
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
export async function answerInput<Input extends AnalysisInput<unknown>>(
  request: RouteRequest,
  receiving: Promise<Input>,
  answer: (input: Input, elapsedS: () => number) => Promise<Reply>,
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

/** Audio counts once per channel that was asked for, and windows as often as they were scored. */
function findingsOf(mix: Analysis, model: string, channels: readonly Analysis[] = []): Findings {
  const scored = new Set([mix, ...channels]);
  return {
    ...mix,
    model,
    modelIds: [mix.modelId],
    durationS: mix.durationS * Math.max(1, channels.length),
    scoredWindows: [...scored].reduce((sum, { windows }) => sum + windows.length, 0),
  };
}

/** The answers of v0 have no warnings. */
function warned(body: object, ignored: readonly string[]): object {
  if (ignored.length === 0 || !('warnings' in body) || !Array.isArray(body.warnings)) return body;
  return { ...body, warnings: [...body.warnings, ...ignored] };
}

/** Receives a file, has it analysed, notes the findings in the request's record, and answers. */
export async function answerAnalysis<Fields>(
  request: RouteRequest,
  analyser: Analyser,
  steps: AnalysisSteps<Fields>,
): Promise<Reply> {
  const { record, signal, caller } = request;
  return answerInput(request, steps.receive(request), async ({ fields, region }, elapsedS) => {
    const plan = { ...steps.plan(fields, request), region, signal, owner: caller?.id ?? '' };
    const analysis = await analyser.analyse(plan);
    const channels = steps.separatesChannels?.(fields)
      ? await analyseChannels(analyser, plan, analysis)
      : undefined;
    noteFindings(record, findingsOf(analysis, plan.model, channels));
    return jsonReply(200, warned(steps.body(analysis, fields, elapsedS(), channels), request.ignored));
  });
}
