// SPDX-License-Identifier: Apache-2.0
//
// Audio that is analysed while it is spoken.
import type { LiveFormat, SkippedWindow } from '../../base/addon/addon.js';
import type {
  AudioSummary,
  ScoreAdjustment,
  ScoredWindow,
  SkippedStretch,
  StageTimesMs,
} from './analyser.js';

export type { LiveFormat, SkippedWindow };

export interface LiveRequest {
  readonly format: LiveFormat;
  /** The model's id or an alias of it. */
  readonly model: string;
  /** Windows with a larger share of non-speech are not scored; 0..100. */
  readonly silenceThresholdPercent: number;
  readonly adjustScore?: ScoreAdjustment | undefined;
  readonly minDurationS: number;
  readonly maxDurationS: number;
  /** The owner of the work: owners take turns. */
  readonly owner: string;
  /** In the order of the audio. Nothing comes after the end or a failure. */
  onEvent(event: LiveEvent): void;
}

export type LiveEvent =
  /** About 0.1 s of audio after the window's end. */
  | { readonly kind: 'window'; readonly window: ScoredWindow }
  /** About 0.4 s of audio after the window's end. */
  | { readonly kind: 'skipped'; readonly window: SkippedWindow }
  | {
      readonly kind: 'end';
      /** With the same values as a file of the same content. */
      readonly summary: AudioSummary & { readonly timesMs: LiveTimesMs };
      /** All skipped stretches, joined as in the analysis of a file. */
      readonly skipped: readonly SkippedStretch[];
      /** Of the second look, see Analysis. */
      readonly closerWindows?: readonly ScoredWindow[];
    }
  /** ServiceError, as `Analyser.analyse` rejects with. */
  | { readonly kind: 'failed'; readonly reason: unknown };

export type LiveTimesMs = Pick<StageTimesMs, 'decode' | 'features'>;

/** One stream of live audio. */
export interface LiveAudio {
  /** Of the model that answers; never an alias. */
  readonly modelId: string;
  /** Seconds of audio that were pushed and are not decoded yet. */
  readonly waitingS: number;
  /** Bytes of the pieces, and the overhead of each. */
  readonly waitingBytes: number;
  /** @param piece whole samples, or one packet of Opus; kept, not copied */
  push(piece: Uint8Array, durationS: number): void;
  /** The end follows as soon as everything is scored. */
  finish(): void;
  /** Frees the stream's resources. No further events. */
  close(): Promise<void>;
}

export interface LiveAnalyser {
  /** @throws ServiceError FIELD_INVALID without such a model, STOPPING */
  openLive(request: LiveRequest): LiveAudio;
}
