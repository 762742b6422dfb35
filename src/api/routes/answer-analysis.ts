// SPDX-License-Identifier: Apache-2.0
import type { Analyser, Analysis, AnalysisRequest } from '../../analysis/analyser/analyser.js';
import { analyseChannels } from '../../analysis/analyser/separate-channels.js';
import type { PredictFields } from '../../base/contract/predict-fields.js';
import { newPredictionId } from '../../base/contract/prediction-id.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { AnalysisInput } from './form-input.js';
import type { Reply, RouteRequest } from './route.js';

/** Results recorded for every analysed file, whatever the question. */
export interface Findings extends Pick<Analysis, 'durationS' | 'skipped' | 'timesMs'> {
  readonly scoredWindows: number;
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
 * Answers from input that has been received, and gives its memory back when that is over.
 * @param answer gets the seconds since the input had arrived from its argument
 */
export async function answerInput(
  request: RouteRequest,
  input: Pick<AnalysisInput<unknown>, 'release'>,
  answer: (elapsedS: () => number) => Promise<Reply>,
): Promise<Reply> {
  try {
    request.beginTurn();
    const receivedMs = performance.now();
    return await answer(() => (performance.now() - receivedMs) / 1000);
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

/** With a warning for each field that was ignored. */
export const warned = <Body extends { readonly warnings: readonly string[] }>(
  body: Body,
  { ignored }: Pick<RouteRequest, 'ignored'>,
): Body => ({ ...body, warnings: [...body.warnings, ...ignored] });

/** The parts of an answer that follow from the fields of its request. */
export const askedIn = ({
  prediction_id,
  profile,
  detail,
}: Pick<PredictFields, 'prediction_id' | 'profile' | 'detail'>) => ({
  predictionId: prediction_id ?? newPredictionId(),
  profile,
  detail,
});

export interface FileAnalysis {
  /** Of the mix of all channels. */
  readonly analysis: Analysis;
  /** Of each channel, if these were asked for. */
  readonly channels: readonly Analysis[] | undefined;
}

/** Has a file analysed, and notes in the request's record what was found out. */
export async function analyseFile(
  { record, signal, caller }: RouteRequest,
  analyser: Analyser,
  plan: Omit<AnalysisRequest, 'signal' | 'owner'>,
  channelMode: PredictFields['channels'] = 'mixed',
): Promise<FileAnalysis> {
  const whole = { ...plan, signal, owner: caller?.id ?? '' };
  const analysis = await analyser.analyse(whole);
  const channels = channelMode === 'separate' ? await analyseChannels(analyser, whole, analysis) : undefined;
  noteFindings(record, findingsOf(analysis, plan.model, channels));
  return { analysis, channels };
}
