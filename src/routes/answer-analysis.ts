// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Analyser, Analysis, AnalysisRequest } from '../pipeline/analysis.js';
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

/** The last group of a random UUID: 12 hexadecimal characters, all of them random. */
export const newPredictionId = (): string => `pred_${randomUUID().slice(-12)}`;

/** Receives a file, has it analysed, notes in the request's record what was found out, and answers. */
export async function answerAnalysis<Fields>(
  request: RouteRequest,
  analyser: Analyser,
  steps: AnalysisSteps<Fields>,
): Promise<Reply> {
  const { record, signal } = request;
  const { fields, region, release } = await steps.receive(request);
  try {
    const receivedMs = performance.now();
    const analysis = await analyser.analyse({ ...steps.plan(fields, request), region, signal });
    record.stagesMs = { ...record.stagesMs, ...analysis.timesMs };
    record.model = analysis.modelId;
    record.audioS = analysis.durationS;
    record.scoredWindows = analysis.windows.length;
    record.skippedS = analysis.skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
    return jsonReply(200, steps.body(analysis, fields, (performance.now() - receivedMs) / 1000));
  } finally {
    // Not earlier, even when the client has gone: the prepare thread may still be reading the file.
    release();
  }
}
