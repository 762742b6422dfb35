// SPDX-License-Identifier: Apache-2.0
import { Listeners } from '../../logic/listeners.js';
import { panned, showing, whole, zoomed } from '../../logic/time-span.js';
import type { Stretch } from '../../logic/windows.js';

/** Length of the surroundings shown, in lengths of the window. */
const SURROUNDINGS = 12;

/** The visible, chosen and played parts of a recording. Timelines that share one move together. */
export class TimelinePlace {
  readonly durationS: number;
  #span: Stretch;
  #chosenS: number | undefined;
  #playingS: number | undefined;
  readonly #listeners = new Listeners();

  constructor(durationS: number) {
    // An empty recording also has a span.
    this.durationS = Math.max(durationS, 0.001);
    this.#span = whole(this.durationS);
  }

  get span(): Stretch {
    return this.#span;
  }

  /** A time in the chosen window. */
  get chosenS(): number | undefined {
    return this.#chosenS;
  }

  get playingS(): number | undefined {
    return this.#playingS;
  }

  /** @returns a function that ends it */
  listen(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** @param atS the time that stays in place; by default the middle, or the chosen window if it is seen */
  zoom(factor: number, atS = this.#middleS()): void {
    this.#see(zoomed(this.#span, factor, atS, this.durationS));
  }

  /** @param share of the visible span; below 0 towards the start */
  pan(share: number): void {
    const byS = share * (this.#span.endS - this.#span.startS);
    this.#see(panned(this.#span, byS, this.durationS));
  }

  seeAll(): void {
    this.#see(whole(this.durationS));
  }

  /** Chooses a window, and moves until it is seen. */
  choose(window: Stretch): void {
    this.#chosenS = (window.startS + window.endS) / 2;
    this.#see(showing(this.#span, window, this.durationS));
  }

  /** Chooses a window, and shows it with some of its surroundings. */
  lookAt(window: Stretch): void {
    const lengthS = SURROUNDINGS * (window.endS - window.startS);
    this.zoom((this.#span.endS - this.#span.startS) / lengthS, (window.startS + window.endS) / 2);
    this.choose(window);
  }

  play(atS: number | undefined): void {
    this.#playingS = atS;
    if (atS !== undefined) this.#span = showing(this.#span, { startS: atS, endS: atS }, this.durationS);
    this.#listeners.tell();
  }

  #middleS(): number {
    const { startS, endS } = this.#span;
    const chosenS = this.#chosenS;
    return chosenS !== undefined && chosenS >= startS && chosenS <= endS ? chosenS : (startS + endS) / 2;
  }

  #see(span: Stretch): void {
    this.#span = span;
    this.#listeners.tell();
  }
}
