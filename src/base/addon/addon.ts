// SPDX-License-Identifier: Apache-2.0
//
// This room loads the native addon and declares its types. The stages themselves are in native/.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isInstalledIn, packageDir, packageVersion } from '../config/package-dir.js';

/** Failures of native stages, with the names of native/stage_error.h. */
export type StageErrorCode =
  | 'UNSUPPORTED_FORMAT'
  | 'NO_AUDIO_STREAM'
  | 'UNDECODABLE'
  | 'TOO_MANY_CHANNELS'
  | 'SAMPLE_RATE_OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'TOO_SHORT'
  | 'OUT_OF_RANGE'
  | 'CANCELLED'
  | 'DEADLINE'
  | 'SOURCE_FAILED'
  | 'INTERNAL';

export interface StageError extends Error {
  readonly code: StageErrorCode;
  /** Seconds of audio so far, for TOO_LONG, TOO_SHORT and OUT_OF_RANGE. */
  readonly measuredS: number;
}

export function isStageError(error: unknown): error is StageError {
  return error instanceof Error && 'code' in error && 'measuredS' in error;
}

/** The part of a recording that is analysed; all of it by default. Seconds of its audio, 0 <= startS <= endS. */
export interface AudioRegion {
  readonly startS?: number;
  readonly endS?: number;
}

export interface AudioPart extends AudioRegion {
  /** Only this channel, from 0 on, in place of the mix of all; the last one if there are fewer. */
  readonly channel?: number;
}

/** Copies these fields only, and no undefined ones. */
export const audioPartOf = ({ startS, endS, channel }: AudioPart): AudioPart => ({
  ...(startS !== undefined && { startS }),
  ...(endS !== undefined && { endS }),
  ...(channel !== undefined && { channel }),
});

/** The region is the part that is too long or too short. */
export interface PrepareOptions extends AudioPart {
  readonly minDurationS: number;
  readonly maxDurationS: number;
  readonly silenceThresholdPercent: number;
  readonly timeLimitMs: number;
  /**
   * Windows to make in place of those of 5 s side by side: in order of their beginning, and they may overlap. The audio behind them
   * is not decoded, so the summary is that of a part. Not for live audio.
   */
  readonly windows?: readonly AudioWindow[];
}

export interface SourceOptions extends PrepareOptions {
  /** Seconds of audio between two checkpoints, at least. */
  readonly checkpointIntervalS: number;
}

/** A file that is not in memory. */
export interface RangedFile {
  readonly bytes: number;
  /** Requested ranges begin at multiples of this and are as long; the last one is the rest. */
  readonly blockBytes: number;
  /** Blocks the thread until it has the range. Its errors are a StageError SOURCE_FAILED of `open` or `next`. */
  read(offset: number, length: number): Uint8Array;
}

/** Codecs that change the sound, by libavcodec's names: kLossyCodecs of native/decode/codec_allow_list.h. */
export const lossyCodecs = [
  'aac',
  'ac3',
  'adpcm_ima_qt',
  'adpcm_ima_wav',
  'adpcm_ms',
  'eac3',
  'gsm_ms',
  'mp2',
  'mp3',
  'opus',
  'pcm_alaw',
  'pcm_mulaw',
  'vorbis',
] as const;
export type LossyCodec = (typeof lossyCodecs)[number];

/** The coding of a window's sound; empty if it had none, or without loss. */
export interface CodedSound {
  readonly codec?: LossyCodec;
  /** With a codec: bits per second of all channels, in the busiest second of the window. */
  readonly codedBitsPerS?: number;
}

/** Copies these fields only, and no undefined ones. */
export const codedSoundOf = ({ codec, codedBitsPerS }: CodedSound): CodedSound => ({
  ...(codec !== undefined && { codec }),
  ...(codedBitsPerS !== undefined && { codedBitsPerS }),
});

export interface PreparedInput extends CodedSound {
  readonly windowIndex: number;
  readonly inputIndex: number;
  readonly inputsInWindow: number;
  readonly startS: number;
  readonly endS: number;
  /** Of a window that `lookCloser` asked for; these have indices of their own. */
  readonly isCloser?: true;
  /** Share of the file's bytes read so far, 0..1. */
  readonly fileProgress: number;
}

export interface AudioWindow {
  readonly startS: number;
  readonly endS: number;
}

/** Consecutive windows skipped for lack of speech. */
export interface SkippedStretch extends AudioWindow {
  /** 0..100, over the whole stretch. */
  readonly nonSpeechPercent: number;
  /** The last one may overlap its predecessor. */
  readonly windows: readonly AudioWindow[];
}

/** Bytes of a file that most likely hold audio, but were not decoded. */
export interface Unheard {
  readonly bytes: number;
  /** The audio before them, in seconds of the recording. */
  readonly atS: number;
  /** Ends a sentence. */
  readonly what: string;
}

/** The length that a container states, if it holds less. */
export interface StatedLength {
  /** Absent if the file only lacks its own end. */
  readonly statedS?: number;
  readonly foundS: number;
}

/** Parts of a file that were not heard, or only with a change. */
export interface HearingFindings {
  readonly damagedPackets: number;
  /** Positions of the first and last damaged packet in seconds; absent without any. */
  readonly damagedFromS?: number;
  readonly damagedToS?: number;
  /** Channels would have cancelled each other in the mix, so that some were inverted. */
  readonly hasInvertedChannels?: boolean;
  /** Absent if all was heard. */
  readonly unheard?: readonly Unheard[];
  readonly statedLength?: StatedLength;
}

/** Findings about a file on the way to its model inputs. */
export interface PrepareSummary extends HearingFindings {
  /** Of the region; all times are those of the recording. */
  readonly durationS: number;
  /** Of the file. */
  readonly channels: number;
  /** Positions of missing audio in seconds; at most one entry per second. */
  readonly damagedAtS: readonly number[];
  /** Share of 10 ms frames with speech over the whole file, 0..1. */
  readonly speechRatio: number;
  /** Share of samples at full scale, 0..1. */
  readonly clippedRatio: number;
  /** Loss of the loudest speech above 4.7 kHz, in dB; absent if there is too little speech to tell. */
  readonly highBandDropDb?: number;
  /** Distance of the loudest speech from the quietest, in dB: the part that noise leaves; absent with less than 1 s of speech. */
  readonly noiseGapDb?: number;
  readonly skipped: readonly SkippedStretch[];
  readonly decodeMs: number;
  readonly featuresMs: number;
}

/** native/prepare/preparer.h: from a file's bytes to model inputs. Belongs to one thread. */
export interface Preparer {
  /** Floats per model input. */
  readonly inputSize: number;
  /**
   * `bytes` and `stopFlag` may lie in shared memory and are read in place until `close`; any value but 0 in
   * `stopFlag[0]` stops the work. Throws StageError, as `next` does.
   */
  open(bytes: Uint8Array, options: PrepareOptions, stopFlag: Int32Array): void;
  /** The same for a file that is read in ranges. `checkpoint` is one of the same file: `next` goes on after it. */
  openSource(
    file: RangedFile,
    options: SourceOptions,
    stopFlag: Int32Array,
    checkpoint: Uint8Array | undefined,
  ): void;
  /** Ask after each `next`: the stretches skipped before the input's window; the summary then lacks them. */
  takeSkipped(): SkippedStretch[];
  /**
   * Ask after the last input of each window: about 20 KiB from which another process goes on after that window; undefined if it
   * is not time for one.
   */
  takeCheckpoint(): Uint8Array | undefined;
  /** Seconds of audio that were decoded so far. */
  readonly decodedS: number;
  /** Writes the next input; undefined at the end of the audio. `output` has `inputSize` elements. */
  next(output: Float32Array): PreparedInput | undefined;
  summary(): PrepareSummary;
  close(): void;
}

/** The pieces of live audio: PCM in 16 bits, little-endian, or G.711, both mono; or packets of Opus without a container. */
export interface LiveFormat {
  readonly encoding: 'pcm16' | 'mulaw' | 'alaw' | 'opus';
  /** Of all but Opus. */
  readonly sampleRateHz: number;
  /** Of Opus: 1 or 2. */
  readonly channels: number;
  /** Of Opus: samples at 48 kHz to leave out at the start. */
  readonly preSkip: number;
}

/** A window that was skipped for lack of speech. */
export interface SkippedWindow extends AudioWindow {
  /** 0..100 */
  readonly nonSpeechPercent: number;
}

export interface LiveState {
  readonly atEnd: boolean;
  /**
   * Windows with a smaller index are certain. A later one was made early, as it will most likely be a window: if the audio ends
   * hardly after it, another one with the same index takes its place, or none.
   */
  readonly certainWindows: number;
  /** Seconds of audio until the next news. */
  readonly wantedS: number;
  /** Since the last time. */
  readonly skipped: readonly SkippedWindow[];
}

/**
 * native/prepare/live_streams.h: live audio that any thread of the process may go on with, one at a time. Results are those of
 * a file with the same content.
 */
export interface LiveStream {
  /** Takes a copy. Opus: one packet; others: whole samples. */
  push(piece: Uint8Array): void;
  /** No further pieces follow. */
  finish(): void;
  /**
   * Makes these windows in addition, each once its audio is there: in order of their beginning, at most 10 s before the start of the
   * next window of the plan. Windows without enough speech or beyond the end of the audio are left out.
   */
  lookCloser(wanted: { readonly windows: readonly AudioWindow[] }): void;
  /** Whether there is an input for `next`. Throws StageError. */
  advance(): boolean;
  /** As Preparer.next. */
  next(output: Float32Array): PreparedInput | undefined;
  state(): LiveState;
  /** Whole once `state().atEnd`. */
  summary(): PrepareSummary;
  /** Lets another thread go on; the object is of no more use. */
  release(): void;
}

/** Single stages, for benchmarks and comparisons; requests go through Preparer. */
export interface Stages {
  /** The whole first audio stream, mixed down to one channel. */
  decode(bytes: Uint8Array): Pick<HearingFindings, 'damagedPackets' | 'unheard' | 'statedLength'> & {
    samples: Float32Array;
    sampleRateHz: number;
  };
  readonly Resampler: new (
    inputRateHz: number,
    outputRateHz: number,
  ) => { convert(samples: Float32Array): Float32Array };
  /** One decision (1 for speech, 0 for none) per 10 ms of 16 kHz audio. */
  readonly VoiceActivityDetector: new () => { detect(samples: Float32Array): Uint8Array };
  /** `recipe` as src/analysis/models/input-text.ts writes it. Throws StageError. */
  readonly FeatureExtractor: new (
    recipe: string,
  ) => { compute(samples: Float32Array): Float32Array };
}

/** A fault in a list of voiceprints. */
export interface ListProblem {
  readonly problem: string;
}

export interface VoiceprintRanking {
  /** Of all entries, in their order. */
  readonly cosines: Float64Array;
  /** The highest first. The id is text in JSON. */
  readonly best: readonly { readonly index: number; readonly cosine: number; readonly idJson: string }[];
}

/** A device of the system's Vulkan drivers. */
export interface VulkanAdapter {
  readonly name: string;
  readonly isSoftware: boolean;
}

export interface Addon extends Stages {
  /** `input` describes a model's input, as src/analysis/models/input-text.ts writes it. Throws StageError. */
  readonly Preparer: new (
    input: string,
  ) => Preparer;
  /**
   * Locks the stream with this number, made up by the caller, until `release`; opens it if there is none. Throws StageError.
   */
  readonly LiveStream: new (
    id: number,
    input: string,
    format: LiveFormat,
    options: PrepareOptions,
    stopFlag: Int32Array,
  ) => LiveStream;
  /** Frees the stream with this number once no thread works on it. */
  closeLiveStream(id: number): void;
  /** Gives whole pages of (shared) memory back to the system; they read as zero afterwards. */
  releasePages(bytes: Uint8Array): void;
  /**
   * From now on, records in a new file the input of each thread, and marks one that crashes the process: see
   * native/guard/crash_notes.h. Once per process.
   * @throws StageError INTERNAL if the file cannot be created
   */
  openCrashNotes(file: string, slots: number): void;
  /** Records that this thread works on the input with this SHA-256. No effect before `openCrashNotes`. */
  noteInput(digest: Uint8Array): void;
  /** Records that this thread has finished its input without a crash. */
  forgetInput(): void;
  /**
   * Permanently removes the system calls that decoding does not need from this thread: see native/guard/thread_sandbox.h.
   * @returns undefined, or why the system does not allow it
   */
  sandboxThisThread(): string | undefined;
  /** flock(2) without waiting: true if it got the lock, which lasts until the file's last descriptor is closed. */
  tryLock(descriptor: number, kind: 'exclusive' | 'shared' | 'none'): boolean;
  /**
   * Reads a list of voiceprints (native/voiceprints/voiceprint_reader.h), off this thread, and looks for one in directions that
   * no voiceprint of the model has. `list` is read in place until the promise settles.
   */
  findForeignVoiceprint(
    list: Uint8Array,
    /** Rows of 256 numbers, orthonormal. */
    excluded: Float64Array,
    options: { readonly tolerance: number; readonly mostEntries: number },
  ): Promise<{ readonly foreign?: number } | ListProblem>;
  /** Compares a voiceprint of length 1 with all of a list, off this thread. */
  rankVoiceprints(
    list: Uint8Array,
    voiceprint: Float64Array,
    options: { readonly best: number; readonly mostEntries: number },
  ): Promise<VoiceprintRanking | ListProblem>;
  /** Frees the memory of the array's buffer at once; nothing else may use it. The array is empty afterwards. */
  freeBuffer(bytes: Uint8Array): void;
  /** Returns memory that was freed but the C library keeps to the system, off this thread. */
  trimHeap(): Promise<void>;
  /**
   * Begins a lookup in a thread of its own: see native/outgoing/name_question.h.
   * @returns the descriptor of a pipe that brings the answer, for the caller to close
   * @throws StageError INTERNAL if the system has no thread or pipe left
   */
  askForAddresses(host: string): number;
  /** See native/gpu/vulkan_adapters.h: a broken driver may end the process. */
  vulkanAdapters(): VulkanAdapter[];
  libraryVersions(): Record<string, string>;
}

const builtFile = path.join(packageDir, 'build/addon/Release/veravox.node');
const platform = `${process.platform}-${process.arch}`;
const platformPackage = `@veravox/${platform}`;

/**
 * Loads the native addon: a clone's own build, or the package that npm has installed for this platform. The error of a failure names
 * the finding and the command that repairs it.
 */
export function loadAddon(): Addon {
  const isFromNpm = isInstalledIn(packageDir) && !fs.existsSync(builtFile);
  const found = isFromNpm ? platformPackage : builtFile;
  try {
    return createRequire(import.meta.url)(found) as Addon;
  } catch (cause) {
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\nRequire stack');
    throw new Error(
      [
        `The native addon could not be loaded: ${reason}`,
        `  looked for: ${found}`,
        `  running on: Node ${process.version} (${process.platform} ${process.arch})`,
        ...(isFromNpm
          ? [
              `  to install it: npm install ./veravox-${platform}-${packageVersion}.tgz, which is beside veravox-${packageVersion}.tgz`,
              '  npm packages are for Linux with glibc on x64 and arm64; on other systems use a clone or a container',
            ]
          : ['  to build it: node scripts/setup.mjs']),
      ].join('\n'),
      { cause },
    );
  }
}
