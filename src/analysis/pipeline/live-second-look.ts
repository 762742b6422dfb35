// SPDX-License-Identifier: Apache-2.0
import type { AudioWindow, ScoredWindow } from '../analyser/analyser.js';
import type { SecondLookState } from '../analyser/recording.js';
import type { SlottedInput } from '../prepare/prepare-task.js';
import { SecondLook } from '../stretches/second-look.js';

/** The second look at live audio: windows are wanted, made and scored while more audio comes. */
export class LiveSecondLook {
  #look = new SecondLook();
  /** The latest window may give way to another with its index. */
  #latest: { readonly index: number; readonly before: SecondLookState } | undefined;
  #wanted: AudioWindow[] = [];
  readonly #scored = new Map<number, { readonly endS: number; readonly scores: number[] }>();
  #unscored = 0;

  /** Some windows must still be made. */
  get isWanting(): boolean {
    return this.#wanted.length > 0;
  }

  /** Some windows must still be made, or wait for a score. */
  get isBusy(): boolean {
    return this.isWanting || this.#unscored > 0;
  }

  /** A window of the first look, in the order of the audio. */
  add(index: number, window: ScoredWindow): void {
    if (this.#latest?.index === index) this.#forget();
    this.#latest = { index, before: this.#look.state };
    this.#wanted.push(...this.#look.add(window));
  }

  /** The audio is over: windows with this index or a later one do not count. */
  endAt(index: number): void {
    if (this.#latest !== undefined && this.#latest.index >= index) this.#forget();
  }

  takeWanted(): readonly AudioWindow[] {
    return this.#wanted.splice(0);
  }

  announced({ startS, endS, inputsInWindow }: SlottedInput): void {
    this.#unscored++;
    if (!this.#scored.has(startS)) this.#scored.set(startS, { endS, scores: new Array(inputsInWindow) });
  }

  scored({ startS, inputIndex }: SlottedInput, score: number): void {
    this.#unscored--;
    const window = this.#scored.get(startS);
    if (window !== undefined) window.scores[inputIndex] = score;
  }

  /** As a file with the same audio has them. */
  windowsUntil(endS: number): ScoredWindow[] {
    return this.#look.windowsUntil(endS).flatMap(({ startS }) => {
      const scored = this.#scored.get(startS);
      return scored === undefined ? [] : { startS, ...scored };
    });
  }

  #forget(): void {
    this.#look = new SecondLook(0, this.#latest?.before);
    this.#latest = undefined;
  }
}
