// SPDX-License-Identifier: Apache-2.0
import type { ScoredWindow, SkippedStretch } from '../../src/analysis/analyser/analyser.js';
import type { LiveAudio, LiveRequest } from '../../src/analysis/analyser/live.js';

/** Replaces the analysis of live audio: keeps the pushed audio, and reports what the test says. */
export class LiveDouble implements LiveAudio {
  readonly request: LiveRequest;
  readonly modelId: string;
  readonly pieces: Uint8Array[] = [];
  waitingS = 0;
  waitingBytes = 0;
  isFinished = false;
  isClosed = false;
  readonly #onClosed: () => void;

  constructor(request: LiveRequest, onClosed: () => void) {
    this.request = request;
    this.modelId = request.model;
    this.#onClosed = onClosed;
  }

  push(piece: Uint8Array, durationS: number): void {
    this.pieces.push(piece);
    this.waitingS += durationS;
    this.waitingBytes += piece.length;
  }

  finish(): void {
    this.isFinished = true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.#onClosed();
  }

  /** A window of 5 s with this score. */
  tellWindow(index: number, score: number): void {
    const window = { startS: 5 * index, endS: 5 * index + 5, scores: [score] };
    this.request.onEvent({ kind: 'window', window });
  }

  tellEnd(
    durationS: number,
    look: {
      readonly closerWindows?: readonly ScoredWindow[];
      readonly skipped?: readonly SkippedStretch[];
    } = {},
  ): void {
    const measured = { channels: 1, damagedPackets: 0, speechRatio: 0.9, clippedRatio: 0 };
    const summary = { ...measured, durationS, timesMs: { decode: 1, features: 1 } };
    this.request.onEvent({ kind: 'end', summary, skipped: [], ...look });
  }
}
