// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SpeakerModelStatus } from '../../analysis/analyser/analyser.js';
import { loadManifest } from '../../analysis/models/model-file.js';
import { detectorNamed, modelStatus } from '../../analysis/pipeline/model-status.js';
import { chooseSpeaker } from '../../analysis/voiceid/speaker.js';
import type { Config } from '../../base/config/options.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, DEFAULT_THRESHOLD } from '../../base/contract/limits.js';
import { answersTo, defaultModel } from '../../base/contract/model-ids.js';
import { readNamed } from '../../base/errors/read-named.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { pointsForThreshold } from '../../state/operating-points/load-operating-points.js';
import type { ScoringModel } from '../../state/operating-points/operating-point.js';
import { type Condition, type LabelledList, ListError, parseList } from '../figures/labelled-list.js';
import type { Report } from '../figures/report.js';
import { scoreClips } from './clip-scores.js';
import type { ShowProgress } from './list-pipeline.js';
import { localConfig } from './local-files.js';
import type { ScoredRows } from './scored-rows.js';
import { listedScores, modelOfScores } from './scores-file.js';
import { scoreTrials } from './trial-scores.js';

const SCORE_AGAIN = 'To score the files again, rename its column score.';

/** The options that the commands for a list have in common. */
export interface ListOptions {
  readonly where: readonly Condition[];
  readonly model?: string;
  /** A string is the name of an operating point; undefined for the default. */
  readonly threshold?: number | string;
  readonly device?: Config['device'];
  /** Percent; undefined for the default. */
  readonly silenceThreshold?: number;
  /** Score the files although the list has scores. */
  readonly isRescored?: boolean;
}

/** A list with a score for each row that could be scored. */
export interface ScoredList extends ScoredRows {
  readonly list: LabelledList;
  readonly about: Report['list'];
  readonly model: ScoringModel;
  readonly threshold: number;
  /** Percent; null for trials, which have their own rule, and if scores were read. */
  readonly silenceThreshold: number | null;
  readonly dataDir: string;
}

/** A list that can be scored: by the pipeline that serves or, if it has scores, by these. */
export interface OpenList extends Omit<ScoredList, keyof ScoredRows> {
  score(showProgress: ShowProgress): Promise<ScoredList>;
}

/**
 * Reads a list and finds its model, without scoring.
 * @throws ListError, ServiceError for a model or an operating point that is not there
 */
export async function openList(file: string, options: ListOptions): Promise<OpenList> {
  const content = await readNamed(file);
  const listed = parseList(content.toString('utf8'), options.where);
  const list = { ...listed, isScored: listed.isScored && options.isRescored !== true };
  if (list.samples.length === 0) throw new ListError('The list has no rows to score.');
  const id = list.isScored ? modelOfScores(list) : options.model;
  const config = localConfig(options);
  const points = await pointsForThreshold(config, options.threshold);
  const { models } = await loadManifest(config.modelsDir);
  const { speakerModels, ...detection } = modelStatus(models);
  const base = {
    list,
    about: {
      file: path.basename(file),
      sha256: createHash('sha256').update(content).digest('hex'),
      where: options.where.map(({ column, value }) => `${column}=${value}`),
      rows: list.samples.length,
    },
    dataDir: config.dataDir,
  };
  const folder = path.dirname(file);
  const thresholdFor = (model: ScoringModel, usual: number): number =>
    options.threshold === undefined ? usual : points.thresholdOf(options.threshold, model, '--threshold');

  if (list.task === 'detection') {
    const model = detectorNamed(detection, id ?? defaultModel(detection.detectors));
    const threshold = thresholdFor(model, DEFAULT_THRESHOLD);
    const { silenceThreshold = DEFAULT_SILENCE_THRESHOLD_PERCENT } = options;
    const settings = {
      folder,
      modelId: model.id,
      silenceThresholdPercent: silenceThreshold,
      config,
      models: models.filter((each) => each.id === model.id),
    };
    return scorable(
      { ...base, model, threshold, silenceThreshold: list.isScored ? null : silenceThreshold },
      options.model,
      (showProgress) => scoreClips(list.samples, settings, threshold, showProgress),
    );
  }
  const speakerConfig = { ...config, ...(id !== undefined && { speakerModel: id }) };
  const speaker = chooseSpeaker(speakerModels, speakerConfig, points);
  if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
  const model = speakerModels.find((candidate) => candidate.id === speaker.modelId) as SpeakerModelStatus;
  const threshold = thresholdFor(model, speaker.threshold);
  return scorable({ ...base, model, threshold, silenceThreshold: null }, options.model, (showProgress) =>
    scoreTrials(
      list.samples,
      { folder, speaker, config, models: models.filter((each) => each.id === model.id) },
      showProgress,
    ),
  );
}

/** @throws ListError for options that a list with scores has no use for */
export function refuseUnused({ isScored }: LabelledList, { device, silenceThreshold }: ListOptions): void {
  if (!isScored || (device ?? silenceThreshold) === undefined) return;
  const unused = device === undefined ? '--silence-threshold' : '--device';
  throw new ListError(`The list has scores, on which ${unused} has no effect. ${SCORE_AGAIN}`);
}

function scorable(
  opened: Omit<OpenList, 'score'>,
  asked: string | undefined,
  scoreFiles: (showProgress: ShowProgress) => Promise<ScoredRows>,
): OpenList {
  const { list, model } = opened;
  if (!list.isScored) {
    return { ...opened, score: async (showProgress) => ({ ...opened, ...(await scoreFiles(showProgress)) }) };
  }
  if (asked !== undefined && !answersTo(model, asked)) {
    throw new ListError(`The scores of the list come from ${model.id}, not from ${asked}. ${SCORE_AGAIN}`);
  }
  const rows = listedScores(list, opened);
  return { ...opened, score: async () => ({ ...opened, rows, run: null }) };
}
