// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../../analysis/analyser/analyser.js';
import type { Model } from '../../analysis/models/manifest.js';
import { verdictOf } from '../../analysis/verdict/verdict.js';
import type { Config } from '../../base/config/options.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Report } from '../figures/report.js';
import type { Finding, ShowProgress } from './list-pipeline.js';
import { clipFile } from './listed-files.js';
import { maxDurationS } from './local-files.js';
import { analyseRecordings, failureOf, type ScoredRow, type ScoredRows } from './scored-rows.js';

/** A row of a list, and the outcome of its clip. */
interface ClipRow<Result> {
  readonly listed: ListedSample;
  readonly name: string;
  readonly finding: Finding<Result>;
}

/** Settings for a list's clips. */
export interface ClipSettings {
  /** Of the list: the base of relative paths. */
  readonly folder: string;
  readonly modelId: string;
  readonly silenceThresholdPercent: number;
  readonly config: Config;
  /** Default: the models of the manifest. */
  readonly models?: readonly Model[];
}

/**
 * Analyses the clips of a list as `veravox predict` does, each once, however often it is listed.
 * @param read the part of an analysis to keep; if it throws, its clip has failed
 */
export async function analyseClips<Result>(
  listed: readonly ListedSample[],
  { folder, modelId, silenceThresholdPercent, config, models }: ClipSettings,
  read: (analysis: Analysis) => Result,
  showProgress: ShowProgress,
): Promise<{ rows: readonly ClipRow<Result>[]; run: Report['run'] }> {
  const names = [...new Set(listed.map(({ columns }) => columns.path as string))];
  const recordings = names.map((name) => [clipFile(name, folder)]);
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
      return { result: read(analysis), durationS: analysis.durationS };
    },
    showProgress,
    models && { models },
  );
  const findings = new Map(names.map((name, i) => [name, found[i] as Finding<Result>]));
  const rows = listed.map((row) => {
    const name = row.columns.path as string;
    return { listed: row, name, finding: findings.get(name) as Finding<Result> };
  });
  return { rows, run };
}

/** Scores the clips of a list; a clip's score is that of its verdict. */
export async function scoreClips(
  listed: readonly ListedSample[],
  settings: ClipSettings,
  threshold: number,
  showProgress: ShowProgress,
): Promise<ScoredRows> {
  const { rows, run } = await analyseClips(
    listed,
    settings,
    (analysis) => {
      const verdict = verdictOf(analysis, threshold, settings.silenceThresholdPercent);
      const { score, confidence, reason } = verdict;
      return { score, confidence, reason };
    },
    showProgress,
  );
  return {
    run,
    rows: rows.map(({ listed: row, name, finding }): ScoredRow => {
      const { isPositive, columns } = row;
      if (!finding.ok) return { listed: row, outcome: { name, isPositive, ...failureOf(finding.error) } };
      const { result, durationS } = finding;
      return { listed: row, outcome: { name, isPositive, columns, durationS, ...result } };
    }),
  };
}
