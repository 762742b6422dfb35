// SPDX-License-Identifier: Apache-2.0
import type {
  AudioWindow,
  LiveFormat,
  LiveState,
  PreparedInput,
  PrepareOptions,
  PrepareSummary,
  SkippedStretch,
  SourceOptions,
  StageErrorCode,
} from '../../base/addon/addon.js';
import type { ArenaRegion } from '../memory/arena.js';
import type { SharedInputSlots } from '../memory/input-slots.js';

/** Given to every prepare thread once. */
export interface PrepareWorkerData {
  readonly arena: SharedArrayBuffer;
  readonly slots: SharedInputSlots;
  readonly control: SharedArrayBuffer;
  /** The inputs of each model for a window: see src/analysis/models/input-text.ts. */
  readonly modelInputs: readonly string[];
  /** Inputs of one file that may wait for scoring at once. */
  readonly maxPendingInputs: number;
  /** Runs under a filter of system calls; `required` fails if the system has none. */
  readonly sandbox: 'auto' | 'required' | 'off';
  /** Threads of long recordings compute when nobody else does. */
  readonly isBackground?: boolean;
  /** Files with these digests are refused, and the others noted while they are worked on; by default neither. */
  readonly refused?: SharedArrayBuffer;
}

export interface PrepareTask {
  /** Identifies the analysis in announcements; never used twice. */
  readonly id: number;
  /** Index of this work in the control block. */
  readonly control: number;
  readonly region: ArenaRegion;
  /** The memory that holds the region; default the arena. */
  readonly memory?: SharedArrayBuffer;
  /** Index into PrepareWorkerData.modelInputs. */
  readonly model: number;
  readonly options: PrepareOptions;
}

/** A file that is read in ranges. */
export interface RecordingTask extends Pick<PrepareTask, 'id' | 'control' | 'model'> {
  /** See RangeMailbox. */
  readonly mailbox: SharedArrayBuffer;
  readonly bytes: number;
  /** SHA-256 of the file's identity: stands for its content if that would be costly to read. */
  readonly digest: Uint8Array;
  readonly options: SourceOptions;
  readonly checkpoint?: Uint8Array;
}

/** More of a stream of live audio. */
export interface LiveTask extends Pick<PrepareTask, 'id' | 'control' | 'model' | 'options'> {
  /** See Addon.LiveStream. */
  readonly stream: number;
  readonly format: LiveFormat;
  readonly pieces: readonly Uint8Array[];
  /** True for the last pieces. */
  readonly isLast: boolean;
  /** See LiveStream.lookCloser. */
  readonly closerWindows: readonly AudioWindow[];
}

export interface LiveProgress extends LiveState {
  /** There was no room for the next input: call again, with or without further pieces. */
  readonly hasMore: boolean;
}

/** A model input that lies in a slot, ready for scoring. */
export interface SlottedInput extends PreparedInput {
  readonly slot: number;
  /** Stretches skipped before its window; of recordings only. */
  readonly skippedBefore?: readonly SkippedStretch[];
  /** See Preparer.takeCheckpoint. */
  readonly checkpoint?: Uint8Array;
}

/** Sent once by every thread, when its addon is loaded and its tables are made. */
export interface ThreadReady {
  readonly ready: true;
  /** Why the thread runs without a filter of system calls; undefined if it has one, or is to have none. */
  readonly sandboxFailure?: string;
}

/** Sent by a thread that waits for a range of its recording. */
export interface RangeWanted {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
  /** Seconds of audio that were decoded so far. */
  readonly decodedS: number;
}

/** Sent while the work on a long file goes on. */
export interface InputsReady {
  readonly id: number;
  readonly inputs: readonly SlottedInput[];
}

/**
 * The result of a prepare task. `inputs` were not announced by InputsReady before; `inputCount` counts all, since announcements
 * may arrive after the result.
 */
export type PrepareResult =
  | {
      readonly ok: true;
      readonly inputs: readonly SlottedInput[];
      readonly inputCount: number;
      /** None while live audio goes on: its list of skipped windows grows with the stream. */
      readonly summary?: PrepareSummary;
      /** Of a LiveTask. */
      readonly live?: LiveProgress;
    }
  | {
      readonly ok: false;
      readonly inputs: readonly SlottedInput[];
      readonly inputCount: number;
      readonly code: StageErrorCode | 'REFUSED';
      readonly message: string;
      readonly measuredS: number;
    };
