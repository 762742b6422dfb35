// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type {
  Analysis,
  AnalysisRequest,
  DetectorStatus,
  PipelineStatus,
  SpeakerModelStatus,
  VoiceEmbedding,
} from '../../src/analysis/analyser/analyser.js';
import type { LiveAudio, LiveRequest } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser, RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import type { UploadArena } from '../../src/analysis/memory/arena.js';
import type { SkippedStretch } from '../../src/base/addon/addon.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { LiveDouble } from './live-double.js';

/** A stretch of windows, each as [startS, endS], skipped for lack of speech. */
export function skippedWindows(
  nonSpeechPercent: number,
  ...times: readonly (readonly [startS: number, endS: number])[]
): SkippedStretch {
  const windows = times.map(([startS, endS]) => ({ startS, endS }));
  const [first, last] = [windows[0], windows.at(-1)];
  if (first === undefined || last === undefined) throw new Error('A stretch has at least one window.');
  return { startS: first.startS, endS: last.endS, nonSpeechPercent, windows };
}

export const someAnalysis: Analysis = {
  modelId: 'apollo-4-5-2026-03-26',
  durationS: 10,
  channels: 1,
  windows: [
    { startS: 0, endS: 5, scores: [0.98] },
    { startS: 5, endS: 10, scores: [0.97] },
  ],
  skipped: [],
  damagedPackets: 0,
  damagedAtS: [],
  speechRatio: 0.9,
  clippedRatio: 0,
  timesMs: { queue: 0.25, decode: 1.5, features: 2, inference: 30 },
};

export const someDetector: DetectorStatus = {
  id: 'apollo-4-5-2026-03-26',
  aliases: [],
  sha256: '1'.repeat(64),
  scoreFingerprint: '2'.repeat(64),
  operatingPoint: 0.5,
};

const someDetectors: readonly DetectorStatus[] = [
  someDetector,
  { ...someDetector, id: 'apollo-4-2026-01-16' },
  { ...someDetector, id: 'apollo-4-2025-10-20' },
];

export const someSpeakerModel: SpeakerModelStatus = {
  id: 'voiceprint-1-2026-11-22',
  aliases: [],
  sha256: 'a'.repeat(64),
  scoreFingerprint: 'b'.repeat(64),
  fingerprint: '0'.repeat(64),
  calibration: { scale: 10, bias: -5 },
  operatingPoint: 0.6,
};

export const someEmbedding: VoiceEmbedding = {
  modelId: someSpeakerModel.id,
  embedding: Float32Array.from({ length: 256 }, (_, i) => Math.sin(i + 1) / Math.sqrt(128)),
  windows: [{ startS: 0, endS: 5 }],
  durationS: 12,
  speechS: 8,
  skipped: [],
  damagedPackets: 0,
  timesMs: { queue: 0.25, decode: 1.5, features: 2, inference: 30 },
};

const { modelId: _, windows, skipped, timesMs: __, damagedAtS: ___, ...someSummary } = someAnalysis;

/** The end of a recording with `someAnalysis`. */
export const recordingEnd = (modelId: string): RecordingStep => ({
  isLast: true,
  modelId,
  scoreFingerprint: someDetector.scoreFingerprint,
  windows,
  skipped,
  summary: someSummary,
});

async function* oneStep({ model }: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
  yield recordingEnd(model);
}

/**
 * Replaces decoding and scoring: reads the file in place in the arena, like the real one, and remembers its hash,
 * which proves that every byte of the upload arrived.
 */
export class AnalyserDouble implements FullAnalyser {
  /** SHA-256 of each file, in order of analysis. */
  readonly hashes: string[] = [];
  readonly requests: AnalysisRequest[] = [];
  running = 0;
  closed = false;
  currentStatus: PipelineStatus = {
    ready: true,
    provider: 'cpu',
    models: someDetectors.map(({ id }) => id),
    detectors: someDetectors,
    speakerModels: [someSpeakerModel],
  };
  /** Runs after the file was read. */
  answer: (request: AnalysisRequest) => Analysis | Promise<Analysis> = (request) => ({
    ...someAnalysis,
    modelId: request.model,
  });
  answerVoice: (request: AnalysisRequest) => VoiceEmbedding | Promise<VoiceEmbedding> = () => someEmbedding;
  /** Steps of a recording's analysis. */
  recordingSteps: (request: RecordingRequest) => AsyncGenerator<RecordingStep, void, void> = oneStep;
  /** In order of opening. */
  readonly liveStreams: LiveDouble[] = [];
  readonly #live = new Set<LiveDouble>();
  readonly #arena: UploadArena;
  #rejectRunning = (_reason: unknown): void => {};
  readonly #closing = new Promise<never>((_, reject) => {
    this.#rejectRunning = reject;
  });

  constructor(arena: UploadArena, speakerModels: readonly SpeakerModelStatus[] = [someSpeakerModel]) {
    this.#arena = arena;
    this.#closing.catch(() => {});
    this.currentStatus = { ...this.currentStatus, speakerModels };
  }

  analyse(request: AnalysisRequest): Promise<Analysis> {
    return this.#read(request, this.answer);
  }

  embed(request: AnalysisRequest): Promise<VoiceEmbedding> {
    return this.#read(request, this.answerVoice);
  }

  analyseRecording(request: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
    return this.recordingSteps(request);
  }

  openLive(request: LiveRequest): LiveAudio {
    const stream = new LiveDouble(request, () => this.#live.delete(stream));
    this.#live.add(stream);
    this.liveStreams.push(stream);
    return stream;
  }

  async #read<Result>(
    request: AnalysisRequest,
    answer: (request: AnalysisRequest) => Result | Promise<Result>,
  ): Promise<Result> {
    const { offset, length } = request.region;
    const memory = request.memory === undefined ? this.#arena.bytes : new Uint8Array(request.memory);
    this.requests.push(request);
    this.running++;
    try {
      const result = await Promise.race([answer(request), this.#closing]);
      // Only now, so that a region returned too early shows as a wrong hash.
      this.hashes.push(
        createHash('sha256')
          .update(memory.subarray(offset, offset + length))
          .digest('hex'),
      );
      return result;
    } finally {
      this.running--;
    }
  }

  status(): PipelineStatus {
    return this.currentStatus;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const stream of this.#live)
      stream.request.onEvent({ kind: 'failed', reason: new ServiceError('STOPPING') });
    this.#rejectRunning(new ServiceError('STOPPING'));
  }
}
