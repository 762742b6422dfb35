// SPDX-License-Identifier: Apache-2.0
import { type CodedSound, codedSoundOf, type SkippedWindow } from '../../base/addon/addon.js';
import type { ScoredWindow } from '../analyser/analyser.js';
import type { LiveEvent } from '../analyser/live.js';
import type { LiveProgress, SlottedInput } from '../prepare/prepare-task.js';

/** A window of live audio whose scores are on their way. */
interface PendingWindow extends CodedSound {
  readonly index: number;
  readonly startS: number;
  readonly endS: number;
  readonly scores: number[];
  missing: number;
}

type Item = { readonly window: PendingWindow } | { readonly skipped: SkippedWindow };

const startOf = (item: Item): number => ('window' in item ? item.window.startS : item.skipped.startS);

const scoredWindow = (window: PendingWindow): ScoredWindow => {
  const { startS, endS, scores } = window;
  return { startS, endS, scores, ...codedSoundOf(window) };
};

/** Puts the outcomes of the windows of live audio, in any order, into the order of the audio. */
export class LiveItems {
  #items: Item[] = [];
  readonly #announced = new Map<SlottedInput, PendingWindow>();
  #certainWindows = 0;

  /** Windows that wait for a score. */
  get unscored(): number {
    return this.#items.filter((item) => 'window' in item && item.window.missing > 0).length;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** A window that was made early gives way to another with its index. */
  announced(input: SlottedInput): void {
    this.#announced.set(input, this.#windowOf(input));
  }

  /** @returns the window, once it has all of its scores */
  scored(input: SlottedInput, score: number): ScoredWindow | undefined {
    const window = this.#announced.get(input) as PendingWindow;
    this.#announced.delete(input);
    window.scores[input.inputIndex] = score;
    window.missing--;
    return window.missing > 0 ? undefined : scoredWindow(window);
  }

  progressed({ atEnd, certainWindows, skipped }: LiveProgress): void {
    this.#certainWindows = certainWindows;
    for (const window of skipped) this.#items.push({ skipped: window });
    // Made early, and none in the end.
    if (atEnd)
      this.#items = this.#items.filter((item) => !('window' in item) || item.window.index < certainWindows);
    this.#items.sort((a, b) => startOf(a) - startOf(b));
  }

  /** The next event, if it is certain. */
  take(): Extract<LiveEvent, { kind: 'window' | 'skipped' }> | undefined {
    const [first] = this.#items;
    if (first === undefined) return undefined;
    if ('skipped' in first) {
      this.#items.shift();
      return { kind: 'skipped', window: first.skipped };
    }
    const { index, missing } = first.window;
    if (missing > 0 || index >= this.#certainWindows) return undefined;
    this.#items.shift();
    return { kind: 'window', window: scoredWindow(first.window) };
  }

  #windowOf(input: SlottedInput): PendingWindow {
    const { windowIndex, startS, endS, inputsInWindow } = input;
    const known = this.#items.findIndex((item) => 'window' in item && item.window.index === windowIndex);
    const item = this.#items[known];
    if (item !== undefined && 'window' in item) {
      if (item.window.startS === startS) return item.window;
      this.#items.splice(known, 1);
    }
    const scores = new Array<number>(inputsInWindow);
    const sound = codedSoundOf(input);
    const window = { index: windowIndex, startS, endS, scores, missing: inputsInWindow, ...sound };
    this.#items.push({ window });
    return window;
  }
}
