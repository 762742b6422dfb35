// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { type Verdict, verdictOf } from '../../analysis/verdict/verdict.js';
import type { Config } from '../../base/config/options.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Finding, ShowProgress } from './list-pipeline.js';
import { maxDurationS } from './local-files.js';
import { analyseRecordings, failureOf, type ScoredRow, type ScoredRows } from './scored-rows.js';

type ClipFinding = Finding<Pick<Verdict, 'score' | 'confidence' | 'reason'>>;

/** Scores the clips of a list as `veravox predict` does; a clip's score is that of its verdict. */
export async function scoreClips(
  listed: readonly ListedSample[],
  folder: string,
  modelId: string,
  silenceThresholdPercent: number,
  threshold: number,
  config: Config,
  showProgress: ShowProgress,
): Promise<ScoredRows> {
  const names = [...new Set(listed.map(({ columns }) => columns.path as string))];
  const recordings = names.map((name) => [path.resolve(folder, name)]);
  const { found, run } = await analyseRecordings(
    config,
    recordings,
    async (analyser, region) => {
      const analysis = await analyser.analyse({
        region,
        model: modelId,
        silenceThresholdPercent,
        minDurationS: MIN_DURATION_S,
        maxDurationS,
        signal: new AbortController().signal,
      });
      const { score, confidence, reason } = verdictOf(analysis, threshold, silenceThresholdPercent);
      return { result: { score, confidence, reason }, durationS: analysis.durationS };
    },
    showProgress,
  );
  const findings = new Map(names.map((name, i) => [name, found[i] as ClipFinding]));
  const rows = listed.map((row): ScoredRow => {
    const { isPositive, columns } = row;
    const name = columns.path as string;
    const finding = findings.get(name) as ClipFinding;
    if (!finding.ok) return { listed: row, outcome: { name, isPositive, ...failureOf(finding.error) } };
    const { result, durationS } = finding;
    return { listed: row, outcome: { name, isPositive, columns, durationS, ...result } };
  });
  return { rows, run };
}
