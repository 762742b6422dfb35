// SPDX-License-Identifier: Apache-2.0
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  type SampleNeeds,
} from '../../base/contract/limits.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type {
  Analyser,
  Analysis,
  AnalysisRequest,
  AudioWindow,
  SkippedStretch,
  StageTimesMs,
  VoiceEmbedding,
} from '../analyser/analyser.js';
import { sumOf } from '../analyser/stage-times.js';
import { detectorNamed } from '../pipeline/model-status.js';
import { mean, rounded, verdictOf } from '../verdict/verdict.js';
import { hearingWarnings } from '../verdict/warnings.js';
import { sideBySide } from './side-by-side.js';
import type { Speaker } from './speaker.js';

export interface VoiceSampleRequest
  extends Pick<
      AnalysisRequest,
      'region' | 'memory' | 'maxDurationS' | 'longTimeoutMs' | 'signal' | 'owner' | 'startS' | 'endS'
    >,
    SampleNeeds {
  /** The id or an alias of the detector that checks whether the voice is AI-generated; undefined leaves that out. */
  readonly detectorId: string | undefined;
}

/** A voice that was read from a file. */
export interface VoiceSample {
  /** Of the models that looked at it: the speaker model, then the detector. */
  readonly modelIds: readonly string[];
  readonly voiceprint: Float32Array;
  /** The probability that the voice, or a stretch of it, is AI-generated, 0..1; undefined when that was not checked. */
  readonly deepfakeScore: number | undefined;
  /** The detector's operating point: a voice with this score and more counts as AI-generated. */
  readonly deepfakeThreshold: number;
  readonly durationS: number;
  readonly speechS: number;
  /** Distance of the loudest speech from the quietest; undefined with less than 1 s of speech. */
  readonly snrDb: number | undefined;
  readonly scoredWindows: number;
  readonly skipped: readonly SkippedStretch[];
  /** A sentence for each part of the file that was not heard. */
  readonly warnings: readonly string[];
  /** Of both analyses together, although they overlap. */
  readonly timesMs: StageTimesMs;
}

/**
 * A window with less than a fifth of speech says little. If no window has more, every window with any speech counts.
 */
const silenceThresholdsPercent = [DEFAULT_SILENCE_THRESHOLD_PERCENT, 99.9] as const;

/**
 * Reads the voice in a file and checks whether it is AI-generated. Only windows that were checked get into the voiceprint. Settles
 * only when nothing reads the region.
 * @throws ServiceError SPEECH_TOO_SHORT and the analyser's errors
 */
export async function readVoice(
  analyser: Analyser,
  speaker: Speaker,
  request: VoiceSampleRequest,
): Promise<VoiceSample> {
  const { detectorId, minSpeechS, ...common } = request;
  const deepfakeThreshold =
    detectorId === undefined ? 1 : detectorNamed(analyser.status(), detectorId).operatingPoint;
  const voiceRequest = { ...common, model: speaker.modelId };
  const [heard, authenticity] = await sideBySide(
    request.signal,
    (signal) => embed(analyser, { ...voiceRequest, signal }, minSpeechS),
    async (signal) =>
      detectorId === undefined
        ? undefined
        : detect(analyser, { ...common, model: detectorId, signal }, minSpeechS),
  );
  const voice = authenticity ? await checkedPart(heard, authenticity, analyser, voiceRequest) : heard;
  const voiceprint = voice.embedding && speaker.space.voiceprintOf(voice.embedding);
  // Windows that cancel each other out leave no direction.
  if (!voiceprint?.every(Number.isFinite)) {
    throw new ServiceError('NON_FINITE_OUTPUT', { model: speaker.modelId });
  }
  return {
    modelIds: [voice.modelId, ...(authenticity ? [authenticity.modelId] : [])],
    voiceprint,
    deepfakeScore: authenticity && deepfakeScoreOf(authenticity),
    deepfakeThreshold,
    durationS: voice.durationS,
    speechS: voice.speechS,
    snrDb: voice.noiseGapDb,
    scoredWindows: voice.windows.length + (authenticity ? authenticity.windows.length : 0),
    skipped: voice.skipped,
    warnings: hearingWarnings(voice),
    timesMs: authenticity ? longerOf(voice.timesMs, authenticity.timesMs) : voice.timesMs,
  };
}

/**
 * The highest of the whole, of each stretch and of any two windows in a row: a few seconds of human speech must not hide a cloned
 * voice.
 */
function deepfakeScoreOf(analysis: Analysis): number {
  const { score, segments, stretches } = verdictOf(analysis, DEFAULT_THRESHOLD, silenceThresholdsPercent[1]);
  const scores = segments.map((segment) => mean(segment.scores));
  const pairs = scores.slice(1).map((second, i) => mean([scores[i] as number, second]));
  return rounded(Math.max(score, ...pairs, ...stretches.map((stretch) => stretch.score)));
}

type PartRequest = Omit<AnalysisRequest, 'silenceThresholdPercent'>;

function embed(analyser: Analyser, request: PartRequest, minSpeechS: number): Promise<VoiceEmbedding> {
  return firstWithWindows(
    async (silenceThresholdPercent) => {
      const voice = await analyser.embed({ ...request, silenceThresholdPercent });
      requireSpeech(voice.speechS, minSpeechS);
      return voice;
    },
    (voice) => voice.windows.length,
  );
}

function detect(analyser: Analyser, request: PartRequest, minSpeechS: number): Promise<Analysis> {
  return firstWithWindows(
    async (silenceThresholdPercent) => {
      const analysis = await analyser.analyse({ ...request, silenceThresholdPercent, needsSecondLook: true });
      requireSpeech(analysis.speechRatio * analysis.durationS, minSpeechS);
      return analysis;
    },
    (analysis) => analysis.windows.length,
  );
}

/**
 * The detector and the speaker model decide apart which windows have speech. Inaudible sound, which most detectors do not hear,
 * moves only the speaker model's decision: if it chose others, it hears the detector's windows in their place.
 */
async function checkedPart(
  voice: VoiceEmbedding,
  { windows, skipped, speechRatio, durationS }: Analysis,
  analyser: Analyser,
  request: PartRequest,
): Promise<VoiceEmbedding> {
  const isChecked = ({ startS, endS }: AudioWindow) =>
    windows.some((checked) => checked.startS === startS && checked.endS === endS);
  if (voice.windows.every(isChecked)) return voice;
  const checked = await analyser.embed({ ...request, windows, silenceThresholdPercent: 100 });
  return {
    ...voice,
    embedding: checked.embedding,
    windows: checked.windows,
    skipped,
    speechS: speechRatio * durationS,
    timesMs: sumOf(voice.timesMs, checked.timesMs),
  };
}

async function firstWithWindows<Result>(
  run: (silenceThresholdPercent: number) => Promise<Result>,
  windowsOf: (result: Result) => number,
): Promise<Result> {
  const [usual, lenient] = silenceThresholdsPercent;
  const result = await run(usual);
  return windowsOf(result) > 0 ? result : run(lenient);
}

/** Speech is counted in frames of 10 ms: fractions of a millisecond come from computing. */
export const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

function requireSpeech(speechS: number, minSpeechS: number): void {
  const measuredS = toMilliseconds(speechS);
  if (measuredS < minSpeechS) {
    throw new ServiceError('SPEECH_TOO_SHORT', { measuredS, requiredS: minSpeechS });
  }
}

/** Of two analyses side by side. */
function longerOf(a: StageTimesMs, b: StageTimesMs): StageTimesMs {
  return {
    queue: Math.max(a.queue, b.queue),
    decode: Math.max(a.decode, b.decode),
    features: Math.max(a.features, b.features),
    inference: Math.max(a.inference, b.inference),
  };
}
