// SPDX-License-Identifier: Apache-2.0
//
// Recordings too long for memory: read in ranges, scored while others are idle, and continued by another process after
// the last saved step.
import type { AudioPart, SkippedStretch } from '../../base/addon/addon.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import type { Analyser, AudioSummary, ScoreAdjustment, ScoredWindow } from './analyser.js';
import type { LiveAnalyser } from './live.js';

/**
 * The point at which the analysis of a recording goes on: plain JSON of about 30 KB, for saving together with the results of
 * its step and giving to a later request for the same part of the same recording with the same model and silence threshold.
 */
export interface RecordingCursor {
  readonly version: 3;
  /** ByteSource.identity */
  readonly source: string;
  /** DetectorStatus.scoreFingerprint */
  readonly scoreFingerprint: string;
  readonly silenceThresholdPercent: number;
  /** The region, if there is one. */
  readonly startS?: number;
  readonly endS?: number;
  /** The single channel that is analysed, if it is one. */
  readonly channel?: number;
  /** Seconds of the region's audio up to the end of the last window before it. */
  readonly audioS: number;
  /** The state of the native code, in base64; absent if nothing of this part was analysed yet. */
  readonly checkpoint?: string;
  /** The choice for the second look so far; absent at the beginning. */
  readonly secondLook?: SecondLookState;
  /** Present when the first look is over. */
  readonly closer?: CloserLook;
}

/** The second look in work. */
export interface CloserLook {
  /** Results of the first one. */
  readonly summary: RecordingSummary;
  /** Start of the last window that was scored; absent at its beginning. */
  readonly lastStartS?: number;
}

/** The windows so far, as far as the choice of windows for a second look depends on them. */
export interface SecondLookState {
  /** Windows by their log-odds, in bins. */
  readonly bins: readonly number[];
  /** The starts of wanted windows, in steps from the start of the analysed part. */
  readonly steps: readonly number[];
}

export interface RecordingRequest extends AudioPart {
  /** The caller keeps it open until the last step, and closes it. */
  readonly source: ByteSource;
  /** The model's id or an alias of it. */
  readonly model: string;
  /** Windows with a larger share of non-speech are not scored; 0..100. */
  readonly silenceThresholdPercent: number;
  readonly minDurationS: number;
  readonly maxDurationS: number;
  /** From the moment a thread begins with it. */
  readonly timeLimitMs: number;
  readonly adjustScore?: ScoreAdjustment | undefined;
  /** DetectorStatus.scoreFingerprint that the caller's numbers are for; others are refused with ScoresDiffer. */
  readonly scoreFingerprint?: string | undefined;
  /** Of the last step that was saved; undefined starts at the beginning. */
  readonly cursor?: RecordingCursor | undefined;
  /** Seconds of audio per step, at least; 60 by default. Steps are never shorter than about 10 s. */
  readonly stepS?: number;
  /** The owner of the work: owners take turns. */
  readonly owner?: string;
  readonly signal: AbortSignal;
  /** Called several times per second at most, also while nothing but silence comes. */
  readonly onProgress?: (progress: RecordingProgress) => void;
}

export interface RecordingProgress {
  /** Seconds of audio that were decoded: somewhat more than were scored. */
  readonly decodedS: number;
  /** Share of the file's bytes that were asked for, 0..1. */
  readonly fileProgress: number;
}

/** Results that were not in an earlier step, in the order of the audio. */
export interface RecordingResults {
  readonly windows: readonly ScoredWindow[];
  readonly skipped: readonly SkippedStretch[];
  /** See Analysis. */
  readonly closerWindows?: readonly ScoredWindow[];
}

export interface RecordingPart extends RecordingResults {
  readonly isLast: false;
  readonly cursor: RecordingCursor;
}

/** Measurements of the whole recording, however many processes worked on it, and when it is uncertain. */
export type RecordingSummary = AudioSummary;

export interface RecordingEnd extends RecordingResults {
  readonly isLast: true;
  /** Of the model that answered; never an alias. */
  readonly modelId: string;
  /** DetectorStatus.scoreFingerprint */
  readonly scoreFingerprint: string;
  readonly summary: RecordingSummary;
}

export type RecordingStep = RecordingPart | RecordingEnd;

/** The cursor belongs to another recording, model, threshold or version of the server: begin without one. */
export class CursorRefused extends Error {
  override readonly name = 'CursorRefused';
}

/** The model's scores mean something else by now than when the request's numbers were found. */
export class ScoresDiffer extends Error {
  override readonly name = 'ScoresDiffer';
}

export interface RecordingAnalyser {
  /**
   * Yields the results step by step. If the caller saves each step and its cursor as one, no window is in two steps, whatever
   * ends the process; results are those of `Analyser.analyse`. Throws ServiceError, CursorRefused, ScoresDiffer, or the signal's
   * reason.
   * Leaving the loop early stops the work.
   */
  analyseRecording(request: RecordingRequest): AsyncGenerator<RecordingStep, void, void>;
}

/** Of files in memory, of recordings of any length, and of live audio. */
export type FullAnalyser = Analyser & RecordingAnalyser & LiveAnalyser;
