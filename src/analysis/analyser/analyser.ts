// SPDX-License-Identifier: Apache-2.0
//
// This room is the interface of the analysis: requests and their results, for files, recordings in ranges
// and live audio. The server and the commands depend on it; src/analysis/pipeline implements it, and
// doubles replace it in tests.
import type {
  AudioPart,
  AudioWindow,
  CodedSound,
  HearingFindings,
  PrepareSummary,
  SkippedStretch,
  StatedLength,
  Unheard,
} from '../../base/addon/addon.js';
import type { ArenaRegion } from '../memory/arena.js';
import type { DeviceStatus } from '../scoring/devices.js';
import type { ProviderChoice } from '../scoring/provider.js';

export type { AudioWindow, HearingFindings, SkippedStretch, StatedLength, Unheard };

/** Another score in place of a detector's own. @param vector of the input, inside the detector; not kept */
export type ScoreAdjustment = (score: number, vector: Float32Array) => number;

/** One file to analyse. */
export interface AnalysisRequest extends AudioPart {
  /** The file's bytes in the upload arena; the caller keeps the region until the promise settles. */
  readonly region: ArenaRegion;
  /** The memory that holds the region; default the upload arena. */
  readonly memory?: SharedArrayBuffer;
  /** The model's id or an alias of it. */
  readonly model: string;
  /** Windows with a larger share of non-speech are not scored; 0..100. */
  readonly silenceThresholdPercent: number;
  readonly minDurationS: number;
  readonly maxDurationS: number;
  /** In place of those of 5 s side by side: see PrepareOptions. */
  readonly windows?: readonly AudioWindow[];
  /**
   * Given for a file that may keep a thread busy for minutes: it leaves a prepare thread to others, and may wait for one,
   * and then be worked on, for this long each instead of as long as the configuration says.
   */
  readonly longTimeoutMs?: number;
  readonly adjustScore?: ScoreAdjustment | undefined;
  /** Rejects if the second look misses its deadline. */
  readonly needsSecondLook?: true;
  /** The owner of the work. Owners take turns when the threads are busy. */
  readonly owner?: string;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: AnalysisProgress) => void;
}

export interface AnalysisProgress {
  readonly scoredWindows: number;
  /** End of the last window that was prepared, in seconds of audio. */
  readonly preparedS: number;
  /** Share of the file's bytes that were read when its latest window was prepared, 0..1. */
  readonly fileProgress: number;
}

/** A window of the audio that was scored. */
export interface ScoredWindow extends AudioWindow, CodedSound {
  /** One probability of being AI-generated per model input that the window gave, 0..1. */
  readonly scores: readonly number[];
}

/** Time of each stage for this request, in ms of wall time; the stages of a longer file overlap. */
export interface StageTimesMs {
  readonly queue: number;
  readonly decode: number;
  readonly features: number;
  readonly inference: number;
}

/** A detector's answer for a file, and measurements made on the way. Each window was either scored or skipped. */
export interface Analysis extends Omit<PrepareSummary, 'decodeMs' | 'featuresMs'> {
  /** Of the model that answered; never an alias. */
  readonly modelId: string;
  readonly windows: readonly ScoredWindow[];
  /** Of a second look where windows disagree, at steps of a second (src/analysis/stretches); absent if nothing did. */
  readonly closerWindows?: readonly ScoredWindow[];
  /** Why there was no second look although windows disagree: it would have missed its deadline. */
  readonly missedLook?: MissedLook;
  /** A global confidence below this is uncertain; absent if the model's entry does not say. */
  readonly uncertainBelowConfidence?: number;
  readonly timesMs: StageTimesMs;
}

/** Measurements of all the audio, and when its verdict is uncertain. */
export type AudioSummary = Omit<PrepareSummary, 'decodeMs' | 'featuresMs' | 'skipped' | 'damagedAtS'> &
  Pick<Analysis, 'uncertainBelowConfidence' | 'missedLook'>;

export type MissedLook = 'QUEUE_DEADLINE' | 'ANALYSIS_TIMEOUT';

/** The voice in a file as a speaker model sees it. */
export interface VoiceEmbedding extends HearingFindings {
  readonly modelId: string;
  /** The L2-normalised mean of the L2-normalised embeddings of the windows; undefined without any. */
  readonly embedding: Float32Array | undefined;
  /** All that the embedding was made of. */
  readonly windows: readonly AudioWindow[];
  readonly durationS: number;
  /** Seconds of speech in the whole file. */
  readonly speechS: number;
  /** See PrepareSummary. */
  readonly noiseGapDb?: number;
  readonly skipped: readonly SkippedStretch[];
  readonly timesMs: StageTimesMs;
}

/** The origin of a model's scores: a threshold found with one model means nothing for another. */
export interface ScoringModelStatus {
  readonly id: string;
  /** Other names that a request may give. */
  readonly aliases: readonly string[];
  /** Of the model's file. */
  readonly sha256: string;
  /** Differs whenever the same audio could get another score: 64 hexadecimal characters. */
  readonly scoreFingerprint: string;
}

export interface DetectorStatus extends ScoringModelStatus {
  /** The score from which voice identity takes a voice for AI-generated. */
  readonly operatingPoint: number;
}

/** Facts about a speaker model that callers need to work with its embeddings. */
export interface SpeakerModelStatus extends ScoringModelStatus {
  /** Differs whenever the same audio would give another embedding: 64 hexadecimal characters. */
  readonly fingerprint: string;
  /** similarity = sigmoid(scale * cosine + bias) */
  readonly calibration: { readonly scale: number; readonly bias: number };
  /** The similarity from which two voices count as the same. */
  readonly operatingPoint: number;
  /** Of artanh(cosine) between strangers; absent if the model's entry does not say. */
  readonly strangers?: { readonly mean: number; readonly sd: number };
}

export interface ScoringStatus {
  readonly devices: readonly DeviceStatus[];
  /** Model inputs of requests that no device has taken yet. */
  readonly waitingCount: number;
}

/** With the provider in use. */
export interface PipelineStatus extends ProviderChoice {
  /** Models are warm, and a device works. */
  readonly ready: boolean;
  /** The queue and state of the devices that run the models; always current. */
  readonly scoring?: ScoringStatus;
  /** Why decoder threads run without a filter of system calls; absent if they have one, or are to have none. */
  readonly sandboxFailure?: string;
  /** Every name that a request may give for a detector: ids and aliases. */
  readonly models: readonly string[];
  /** The same, in the order of the manifest. */
  readonly detectors: readonly DetectorStatus[];
  /** In the order of the manifest; empty on a server without voice identity. */
  readonly speakerModels: readonly SpeakerModelStatus[];
}

/** From bytes to scores. Implemented by `pipeline.ts`; the server and the command line use it alike. */
export interface Analyser {
  /** Rejects with ServiceError; with the signal's reason when the request was abandoned. */
  analyse(request: AnalysisRequest): Promise<Analysis>;
  /** The same for a speaker model. */
  embed(request: AnalysisRequest): Promise<VoiceEmbedding>;
  status(): PipelineStatus;
  /** Releases threads and model sessions; requests still running are rejected. */
  close(): Promise<void>;
}
