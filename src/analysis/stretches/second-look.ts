// SPDX-License-Identifier: Apache-2.0
//
// This room finds stretches of AI-generated speech inside a recording. A second look scores short windows at steps of a second
// where a window disagrees with the recording so far; contrasts.ts then decides. Everything here is pure.
import type { AudioWindow, ScoredWindow } from '../analyser/analyser.js';
import type { SecondLookState } from '../analyser/recording.js';
import { humanPrior, logOddsOf, MOST_LOG_ODDS, USUAL_SHARE } from './log-odds.js';

const STEP_S = 1;
/** Half of the first look's: more of it is a short sentence. */
const WINDOW_S = 2.5;
/** The windows of the second look begin from this long before the one that disagrees on, until its end. */
const BEFORE_S = 3;
/** A window disagrees if its log-odds are this much above the usual ones so far. */
const DISAGREES_BY = 0.5;
/** Windows of the second look: as many at once, and this share of the windows before, at most. */
const BURST_WINDOWS = 45;
const MOST_SHARE = 0.25;

const BIN = 0.25;
const BINS = (2 * MOST_LOG_ODDS) / BIN + 1;
const binOf = (logOdds: number): number => Math.round((logOdds + MOST_LOG_ODDS) / BIN);

/** Whether a window of the second look comes after the one that starts there, to the sample. */
export const isLater = ({ startS }: AudioWindow, lastStartS: number): boolean =>
  startS > lastStartS + STEP_S / 2;

/**
 * Chooses the windows of the second look. Each choice depends on the windows before alone, so that files, jobs and live audio get
 * the same.
 */
export class SecondLook {
  readonly #startS: number;
  readonly #bins: number[];
  readonly #steps: number[];
  /** The prior is among them. */
  #windows: number;

  /** @param startS of the part that is analysed */
  constructor(startS = 0, state?: SecondLookState) {
    this.#startS = startS;
    this.#bins = [...(state?.bins ?? priorBins())];
    this.#steps = [...(state?.steps ?? [])];
    this.#windows = this.#bins.reduce((sum, count) => sum + count, 0);
  }

  get state(): SecondLookState {
    return { bins: [...this.#bins], steps: [...this.#steps] };
  }

  /** All windows that are wanted so far and end with the audio at the latest, in order. */
  windowsUntil(endS: number): AudioWindow[] {
    return this.#steps.map((step) => this.#windowAt(step)).filter((window) => window.endS <= endS);
  }

  /**
   * Takes the windows in the order of the audio.
   * @returns the windows that this one asks for
   */
  add(window: ScoredWindow): readonly AudioWindow[] {
    const logOdds = logOddsOf(window);
    const bin = binOf(logOdds);
    this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
    this.#windows++;
    if (logOdds - this.#usual() < DISAGREES_BY) return [];
    const first = Math.ceil((window.startS - this.#startS - BEFORE_S) / STEP_S);
    const last = Math.floor((window.endS - this.#startS) / STEP_S);
    const from = Math.max(0, first, (this.#steps.at(-1) ?? -1) + 1);
    const wanted = Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => from + i);
    const most = BURST_WINDOWS + MOST_SHARE * (this.#windows - humanPrior.length);
    if (this.#steps.length + wanted.length > most) return [];
    this.#steps.push(...wanted);
    return wanted.map((step) => this.#windowAt(step));
  }

  #windowAt(step: number): AudioWindow {
    const startS = this.#startS + step * STEP_S;
    return { startS, endS: startS + WINDOW_S };
  }

  #usual(): number {
    const rank = Math.floor(USUAL_SHARE * this.#windows);
    let upTo = 0;
    for (const [bin, count] of this.#bins.entries()) {
      upTo += count;
      if (upTo > rank) return bin * BIN - MOST_LOG_ODDS;
    }
    return MOST_LOG_ODDS;
  }
}

function priorBins(): number[] {
  const bins = new Array<number>(BINS).fill(0);
  for (const logOdds of humanPrior) bins[binOf(logOdds)] = (bins[binOf(logOdds)] ?? 0) + 1;
  return bins;
}
