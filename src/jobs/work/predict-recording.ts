// SPDX-License-Identifier: Apache-2.0
//
// The analysis of a recording from its last saved step on: first of the mix of all channels, then of each channel if the job asks
// for that.
import type { Analysis } from '../../analysis/analyser/analyser.js';
import {
  type RecordingAnalyser,
  type RecordingCursor,
  type RecordingEnd,
  type RecordingResults,
  ScoresDiffer,
} from '../../analysis/analyser/recording.js';
import { nextChannel } from '../../analysis/analyser/separate-channels.js';
import { adjustmentOf } from '../../analysis/profiles/correction.js';
import { predictionBody } from '../../analysis/verdict/prediction.js';
import { audioPartOf } from '../../base/addon/addon.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import type { Prediction } from '../../base/contract/prediction.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { storedJson } from '../../state/database/stored-json.js';
import type { Work } from '../queue/job.js';
import { type JobParameters, jobParameters, ofJob } from '../queue/job-text.js';
import type { JobWorkTable } from '../queue/job-work-table.js';
import type { DoneWork } from './done-work.js';

export interface PredictParts {
  readonly workTable: JobWorkTable;
  readonly analyser: RecordingAnalyser;
  readonly maxDurationS: number;
  readonly timeLimitMs: number;
}

export interface PredictTask {
  readonly source: ByteSource;
  readonly signal: AbortSignal;
  readonly onProgress: (fileProgress: number) => void;
  /** Called after each saved step; what it throws ends the turn. */
  readonly onSaved: () => void;
}

/** A step as it is saved. */
interface SavedStep extends RecordingResults {
  /** Of a single channel; absent for the mix. */
  readonly channel?: number;
  /** With the last step of a pass that others follow. */
  readonly end?: PassEnd;
  /** Since the step before, or since the beginning of its turn. */
  readonly processingS?: number;
}

type PassEnd = Pick<RecordingEnd, 'modelId' | 'scoreFingerprint' | 'summary'>;

/**
 * Saves each step. A file of several channels is read once for the mix and once for each channel.
 * @throws ServiceError NO_SPEECH, CHANNELS_TOO_MANY, SCORES_DIFFER and what the analyser throws; CursorRefused, WorkLost, or what `onSaved` throws
 */
export async function predictRecording(
  work: Work,
  parts: PredictParts,
  task: PredictTask,
): Promise<{ readonly body: Prediction; readonly done: DoneWork }> {
  const parameters = jobParameters(work.job);
  const passes = new Passes(work, parts, task);
  const steps = await passes.finish().catch((error: unknown) => {
    if (!(error instanceof ScoresDiffer)) throw error;
    throw new ServiceError('SCORES_DIFFER', { model: parameters.boundTo?.modelId ?? parameters.model });
  });
  const mix = analysisOf(steps, undefined);
  const channels = parameters.separatesChannels ? channelsOf(steps, mix) : undefined;
  // Another try gives the same.
  const { predictionId = `pred_${work.job.id.replaceAll('-', '').slice(0, 12)}` } = parameters;
  const processingS = steps.reduce((sum, step) => sum + (step.processingS ?? 0), passes.unsavedS());
  const scored = [...new Set([mix, ...(channels ?? [])])];
  return {
    body: predictionBody(mix, { ...parameters, predictionId, channels }, processingS),
    done: {
      bytes: task.source.bytes,
      audioS: mix.durationS * (channels?.length ?? 1),
      scoredWindows: scored.reduce((sum, { windows }) => sum + windows.length, 0),
      skippedS: mix.skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0),
      model: parameters.model,
      modelIds: [mix.modelId],
    },
  };
}

class Passes {
  readonly #work: Work;
  readonly #parts: PredictParts;
  readonly #task: PredictTask;
  readonly #parameters: JobParameters;
  #savedSteps: number;
  #savedMs = performance.now();

  constructor(work: Work, parts: PredictParts, task: PredictTask) {
    this.#work = work;
    this.#parts = parts;
    this.#task = task;
    this.#parameters = jobParameters(work.job);
    this.#savedSteps = work.savedSteps;
  }

  /** The time since the last saved step. */
  unsavedS(): number {
    return (performance.now() - this.#savedMs) / 1000;
  }

  /** @returns all steps, those of earlier turns included */
  async finish(): Promise<readonly SavedStep[]> {
    const { cursor: saved } = this.#work;
    let cursor =
      saved === undefined ? undefined : storedJson<RecordingCursor>(saved, ofJob(this.#work.job, 'cursor'));
    let mix = cursor?.channel === undefined ? undefined : endOfMix(await this.#saved());
    for (;;) {
      const last = await this.#pass(cursor, mix);
      const channel = cursor?.channel;
      mix ??= last;
      const next = this.#parameters.separatesChannels
        ? nextChannel(channel, mix.summary.channels)
        : undefined;
      const { modelId, scoreFingerprint, summary } = last;
      const end = { modelId, scoreFingerprint, summary };
      const step = { ...resultsOf(last), ...named(channel), end };
      if (next === undefined) return [...(await this.#saved()), step];
      cursor = {
        version: 3,
        source: this.#task.source.identity,
        scoreFingerprint: end.scoreFingerprint,
        silenceThresholdPercent: this.#parameters.silenceThresholdPercent,
        ...audioPartOf({ ...this.#parameters, channel: next }),
        audioS: 0,
      };
      await this.#save(step, cursor, audioSOf(channel, mix.summary.durationS, mix));
    }
  }

  /** One reading of the file. */
  async #pass(cursor: RecordingCursor | undefined, mix: PassEnd | undefined): Promise<RecordingEnd> {
    const { analyser, maxDurationS, timeLimitMs } = this.#parts;
    const { job } = this.#work;
    const { source, signal, onProgress } = this.#task;
    const { model, silenceThresholdPercent, separatesChannels, correction, boundTo } = this.#parameters;
    const channel = cursor?.channel;
    const steps = analyser.analyseRecording({
      source,
      // Another detector may answer to the alias by now.
      model: boundTo?.modelId ?? model,
      scoreFingerprint: boundTo?.scoreFingerprint,
      silenceThresholdPercent,
      adjustScore: correction && adjustmentOf(correction),
      ...audioPartOf({ ...this.#parameters, ...named(channel) }),
      minDurationS: MIN_DURATION_S,
      maxDurationS,
      timeLimitMs,
      cursor,
      owner: job.account,
      signal,
      onProgress: ({ fileProgress }) =>
        onProgress(separatesChannels ? shareOf(channel, fileProgress, mix) : fileProgress),
    });
    for await (const part of steps) {
      if (part.isLast) return part;
      await this.#save(
        { ...resultsOf(part), ...named(channel) },
        part.cursor,
        audioSOf(channel, part.cursor.audioS, mix),
      );
    }
    throw new Error(`The analysis of the job ${job.id} ended without a last step. This is a bug.`);
  }

  async #save(step: SavedStep, cursor: RecordingCursor, audioS: number): Promise<void> {
    const results = JSON.stringify({ ...step, processingS: this.unsavedS() });
    this.#savedMs = performance.now();
    const saved = { results, cursor: JSON.stringify(cursor), audioS };
    await this.#parts.workTable.saveStep(this.#work, this.#savedSteps++, saved);
    this.#task.onSaved();
  }

  async #saved(): Promise<SavedStep[]> {
    const steps: SavedStep[] = [];
    const { id } = this.#work.job;
    for await (const text of this.#parts.workTable.savedResults(id)) {
      const row = `${id}, ${steps.length}`;
      steps.push(storedJson<SavedStep>(text, { table: 'job_steps', column: 'results', row }));
    }
    return steps;
  }
}

const resultsOf = ({ windows, skipped, closerWindows }: RecordingResults): RecordingResults => ({
  windows,
  skipped,
  ...(closerWindows && { closerWindows }),
});

const named = (channel: number | undefined) => (channel === undefined ? {} : { channel });

/** Each channel counts once, and the mix as long as there is nothing else. */
function audioSOf(channel: number | undefined, audioS: number, mix: PassEnd | undefined): number {
  if (channel === undefined || mix === undefined) return audioS;
  const { durationS } = mix.summary;
  return Math.max(durationS, channel * durationS + audioS);
}

/** The mix is one half of the work, the channels are the other: how many there are is known after the mix only. */
function shareOf(channel: number | undefined, fileProgress: number, mix: PassEnd | undefined): number {
  if (channel === undefined || mix === undefined) return fileProgress / 2;
  return (1 + (channel + fileProgress) / mix.summary.channels) / 2;
}

function endOfMix(steps: readonly SavedStep[]): PassEnd {
  const end = steps.find(({ channel, end }) => channel === undefined && end !== undefined)?.end;
  if (end === undefined) throw new Error('The saved steps have no end of the mix. This is a bug.');
  return end;
}

function analysisOf(steps: readonly SavedStep[], channel: number | undefined): Analysis {
  const own = steps.filter((step) => step.channel === channel);
  const end = own.at(-1)?.end;
  if (end === undefined) throw new Error('The steps of an analysis have no end. This is a bug.');
  // Part of a second look says less than none.
  const isMissed = end.summary.missedLook !== undefined;
  const closerWindows = isMissed ? [] : own.flatMap((step) => step.closerWindows ?? []);
  return {
    ...end.summary,
    modelId: end.modelId,
    damagedAtS: [],
    windows: own.flatMap(({ windows }) => windows),
    skipped: own.flatMap(({ skipped }) => skipped),
    ...(closerWindows.length > 0 && { closerWindows }),
    timesMs: { queue: 0, decode: 0, features: 0, inference: 0 },
  };
}

function channelsOf(steps: readonly SavedStep[], mix: Analysis): readonly Analysis[] {
  if (mix.channels === 1) return [mix];
  return Array.from({ length: mix.channels }, (_, channel) => analysisOf(steps, channel));
}
