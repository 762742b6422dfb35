// SPDX-License-Identifier: Apache-2.0
import {
  type CodedSound,
  codedSoundOf,
  type PrepareSummary,
  type SkippedStretch,
} from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { AudioWindow, ScoredWindow } from '../analyser/analyser.js';
import type { RecordingCursor, RecordingEnd, RecordingStep } from '../analyser/recording.js';
import type { SlottedInput } from '../prepare/prepare-task.js';
import type { SecondLook } from '../stretches/second-look.js';
import { type AnsweringDetector, uncertaintyOf } from './answering-detector.js';
import type { FlightRun } from './flight.js';

interface PendingWindow extends CodedSound {
  readonly index: number;
  readonly startS: number;
  readonly endS: number;
  readonly scores: number[];
  readonly skippedBefore: SkippedStretch[];
  missing: number;
  checkpoint: Uint8Array | undefined;
}

type ScoringDetector = AnsweringDetector & Pick<RecordingEnd, 'scoreFingerprint'>;

/** A cursor after this window, if a step ends with it. @param checkpoint if the native code made one there */
export type CursorMaker = (
  window: AudioWindow,
  checkpoint: Uint8Array | undefined,
) => RecordingCursor | undefined;

/**
 * Puts the scores of a recording's windows, which come in any order, into steps, which have the audio's. Holds windows being
 * scored, the step being made, and steps that nobody has taken yet.
 */
export class RecordingRun implements FlightRun {
  readonly #detector: ScoringDetector;
  readonly #cursorAfter: CursorMaker;
  readonly #look: SecondLook | undefined;
  /** In the order of the audio. */
  readonly #pending: PendingWindow[] = [];
  readonly #steps: RecordingStep[] = [];
  #windows: ScoredWindow[] = [];
  #skipped: SkippedStretch[] = [];
  #summary: PrepareSummary | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #isComplete = false;
  #wake = (): void => {};

  /** @param look told of the windows before their cursor is made */
  constructor(detector: ScoringDetector, cursorAfter: CursorMaker, look?: SecondLook) {
    this.#detector = detector;
    this.#cursorAfter = cursorAfter;
    this.#look = look;
  }

  get settled(): boolean {
    return this.#failure !== undefined || this.#isComplete;
  }

  announced({ windowIndex, ...input }: SlottedInput): void {
    let window = this.#pending.at(-1);
    if (window?.index !== windowIndex) {
      const { startS, endS, inputsInWindow } = input;
      const scores = new Array<number>(inputsInWindow);
      const missing = inputsInWindow;
      window = {
        index: windowIndex,
        startS,
        endS,
        scores,
        skippedBefore: [],
        missing,
        checkpoint: undefined,
        ...codedSoundOf(input),
      };
      this.#pending.push(window);
    }
    window.skippedBefore.push(...(input.skippedBefore ?? []));
    window.checkpoint = input.checkpoint;
  }

  scored({ windowIndex, inputIndex }: SlottedInput, [score = Number.NaN]: Float64Array): void {
    if (this.settled) return;
    if (!Number.isFinite(score)) {
      this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#detector.id }));
      return;
    }
    const first = this.#pending[0] as PendingWindow;
    const window = this.#pending[windowIndex - first.index] as PendingWindow;
    window.scores[inputIndex] = score;
    window.missing--;
    this.#takeCompleted();
  }

  /** Everything was announced. */
  prepared(summary: PrepareSummary): void {
    // A flight announces nothing more to a run that has failed, so that it would seem to be complete.
    if (this.settled) return;
    this.#summary = summary;
    this.#takeCompleted();
  }

  fail(reason: unknown): void {
    if (this.settled) return;
    this.#failure = { reason };
    this.#wake();
  }

  /** The next step, as soon as it is there; undefined after the last. Rejects with the reason of a failure. */
  async next(): Promise<RecordingStep | undefined> {
    for (;;) {
      // Steps that are complete are given before the failure, so that they can be saved.
      const step = this.#steps.shift();
      if (step !== undefined) return step;
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#isComplete) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #takeCompleted(): void {
    while (this.#pending[0]?.missing === 0) {
      const window = this.#pending.shift() as PendingWindow;
      const { startS, endS, scores, skippedBefore, checkpoint } = window;
      this.#skipped.push(...skippedBefore);
      const scored = { startS, endS, scores, ...codedSoundOf(window) };
      this.#windows.push(scored);
      this.#look?.add(scored);
      const cursor = this.#cursorAfter(scored, checkpoint);
      if (cursor !== undefined) this.#add({ isLast: false, ...this.#takeResults(), cursor });
    }
    if (this.#summary === undefined || this.#pending.length > 0) return;
    const { decodeMs, featuresMs, skipped, damagedAtS, ...measured } = this.#summary;
    const summary = { ...measured, ...uncertaintyOf(this.#detector) };
    this.#skipped.push(...skipped);
    this.#isComplete = true;
    const { id: modelId, scoreFingerprint } = this.#detector;
    this.#add({ isLast: true, ...this.#takeResults(), modelId, scoreFingerprint, summary });
  }

  #takeResults() {
    const results = { windows: this.#windows, skipped: this.#skipped };
    this.#windows = [];
    this.#skipped = [];
    return results;
  }

  #add(step: RecordingStep): void {
    this.#steps.push(step);
    this.#wake();
  }
}
