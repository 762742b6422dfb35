// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import type { Analysis } from '../../analysis/analyser/analyser.js';
import { codecOffset } from '../../analysis/models/codec-offset.js';
import type { DetectionModel } from '../../analysis/models/manifest.js';
import type { Config } from '../../base/config/options.js';
import { readNamed } from '../../base/errors/read-named.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { logOddsOf } from '../../base/log-odds.js';
import type { UncalibratedClip } from '../figures/calibration-fit.js';
import type { FailedSample } from '../figures/evaluate.js';
import { type Condition, ListError, parseList } from '../figures/labelled-list.js';
import type { Columns } from '../figures/sample.js';
import { analyseClips } from './clip-scores.js';
import type { ShowProgress } from './list-pipeline.js';
import { failureOf } from './scored-rows.js';

export interface UncalibratedList {
  /** Clips that could be scored. */
  readonly clips: readonly UncalibratedClip[];
  readonly failed: readonly FailedSample[];
  /** The list's own. */
  readonly columns: readonly string[];
}

/** Flat enough for log-odds of up to 165 to come back from a score; the manifest's own may be steep. */
const FLAT = 1 / 8;
const SMALLEST = 1e-9;

/** The group whose clips together weigh as much as any other's; empty if the list names none. */
const groupOf = (isPositive: boolean, { system = '', source = '' }: Columns): string =>
  isPositive ? system : source;

/**
 * Scores the clips of a list by the pipeline that serves, whatever scores it has, and takes the log-odds before the model's
 * calibration. Offsets by codec count as part of them.
 * @throws ListError, and the errors of starting the pipeline
 */
export async function uncalibratedClips(
  file: string,
  where: readonly Condition[],
  model: DetectionModel,
  silenceThresholdPercent: number,
  config: Config,
  showProgress: ShowProgress,
): Promise<UncalibratedList> {
  const { task, samples, columns } = parseList((await readNamed(file)).toString(), where);
  if (task !== 'detection') throw new ListError('Expected a list of clips (path, label), not of trials.');
  if (samples.length === 0) throw new ListError('The list has no rows to score.');
  const flat = { ...model, calibration: { scale: FLAT, bias: 0 } };
  const { rows } = await analyseClips(
    samples,
    {
      folder: path.dirname(file),
      modelId: model.id,
      silenceThresholdPercent,
      config,
      models: [flat],
    },
    ({ windows }) => {
      if (windows.length === 0) {
        throw new ServiceError('NO_SPEECH', { silenceThreshold: silenceThresholdPercent, unheard: '' });
      }
      return windows.map((window) => logOddsIn(window, model));
    },
    showProgress,
  );
  const clips: UncalibratedClip[] = [];
  const failed: FailedSample[] = [];
  for (const { listed, name, finding } of rows) {
    const { isPositive } = listed;
    if (finding.ok) {
      clips.push({ isPositive, group: groupOf(isPositive, listed.columns), windows: finding.result });
    } else {
      failed.push({ name, isPositive, ...failureOf(finding.error) });
    }
  }
  return { clips, failed, columns };
}

function logOddsIn(window: Analysis['windows'][number], { calibration }: DetectionModel): number[] {
  const { scale, codecs } = calibration;
  const offset = codecOffset(codecs, window);
  const shift = offset === 0 ? 0 : offset / scale;
  return window.scores.map((score) => {
    // A probability of 0 or 1 has no log-odds.
    const p = Math.min(1 - SMALLEST, Math.max(SMALLEST, score));
    return logOddsOf(p) / FLAT + shift;
  });
}
