// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { Analyser, Analysis, AnalysisRequest, PipelineStatus } from '../../src/pipeline/analysis.js';
import type { UploadArena } from '../../src/upload/arena.js';

export const someAnalysis: Analysis = {
  modelId: 'apollo-4-5-2026-03-26',
  durationS: 10,
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

/**
 * Stands in for decoding and scoring: reads the file where it lies in the arena, like the real one, and remembers its
 * hash, which proves that every byte of the upload came through.
 */
export class AnalyserDouble implements Analyser {
  /** SHA-256 of each file, in the order in which they were analysed. */
  readonly hashes: string[] = [];
  readonly requests: AnalysisRequest[] = [];
  running = 0;
  closed = false;
  currentStatus: PipelineStatus = {
    ready: true,
    provider: 'cpu',
    models: ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16', 'apollo-4-2025-10-20'],
  };
  /** What an analysis does after the file was read. */
  answer: (request: AnalysisRequest) => Analysis | Promise<Analysis> = (request) => ({
    ...someAnalysis,
    modelId: request.modelId,
  });
  readonly #arena: UploadArena;

  constructor(arena: UploadArena) {
    this.#arena = arena;
  }

  async analyse(request: AnalysisRequest): Promise<Analysis> {
    const { offset, length } = request.region;
    this.requests.push(request);
    this.running++;
    try {
      const analysis = await this.answer(request);
      // Only now, so that a region that was given back too early shows as a wrong hash.
      this.hashes.push(
        createHash('sha256')
          .update(this.#arena.bytes.subarray(offset, offset + length))
          .digest('hex'),
      );
      return analysis;
    } finally {
      this.running--;
    }
  }

  status(): PipelineStatus {
    return this.currentStatus;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
