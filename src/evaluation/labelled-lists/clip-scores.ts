// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { verdictOf } from '../../analysis/verdict/verdict.js';
import type { Config } from '../../base/config/options.js';
import { DEFAULT_THRESHOLD, MIN_DURATION_S } from '../../base/contract/limits.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Finding, ShowProgress } from './list-pipeline.js';
import { maxDurationS } from './local-files.js';
import { analyseRecordings, failureOf, type ScoredRow, type ScoredRows } from './scored-rows.js';

/** Scores the clips of a list as `veravox predict` does; a clip's score is that of its verdict. */
export async function scoreClips(
  listed: readonly ListedSample[],
  folder: string,
  modelId: string,
  silenceThresholdPercent: number,
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
      // The score of a verdict is the same at every threshold.
      const { score } = verdictOf(analysis, DEFAULT_THRESHOLD, silenceThresholdPercent);
      return { result: score, durationS: analysis.durationS };
    },
    showProgress,
  );
  const findings = new Map(names.map((name, i) => [name, found[i] as Finding<number>]));
  const rows = listed.map((row): ScoredRow => {
    const { isPositive, columns } = row;
    const name = columns.path as string;
    const finding = findings.get(name) as Finding<number>;
    if (!finding.ok) return { listed: row, outcome: { name, isPositive, ...failureOf(finding.error) } };
    const { result: score, durationS } = finding;
    return { listed: row, outcome: { name, isPositive, columns, score, durationS } };
  });
  return { rows, run };
}
