// SPDX-License-Identifier: Apache-2.0

/** A piece of a recording, as it is drawn. */
export interface Bin {
  /** Largest and smallest sample, -1..1. */
  readonly high: number;
  readonly low: number;
  /** Share of 10 ms frames with speech, 0..1. */
  readonly speech: number;
}

/** The outline of a recording, in few numbers whatever its length. */
export interface Outline {
  /** Of each bin but the last, which may be shorter. */
  readonly binS: number;
  readonly bins: readonly Bin[];
}

/** Bins at most; half of them at least, once a recording is long enough. */
export const MAX_BINS = 1600;
const RATE_HZ = 16_000;
const FRAME_SAMPLES = RATE_HZ / 100;

interface OpenBin {
  high: number;
  low: number;
  speechFrames: number;
  frames: number;
}

const joined = (a: OpenBin, b: OpenBin | undefined): OpenBin =>
  b === undefined
    ? a
    : {
        high: Math.max(a.high, b.high),
        low: Math.min(a.low, b.low),
        speechFrames: a.speechFrames + b.speechFrames,
        frames: a.frames + b.frames,
      };

/** Takes audio as it comes, in bounded memory: if there are too many bins, each two become one. */
export class OutlineBuilder {
  #bins: OpenBin[] = [];
  #framesPerBin = 1;
  #last: OpenBin | undefined;

  /**
   * @param samples at 16 kHz; whole frames of 10 ms, but for the end of the recording
   * @param speech one decision per frame
   */
  add(samples: Float32Array, speech: Uint8Array): void {
    for (let start = 0, frame = 0; start < samples.length; start += FRAME_SAMPLES, frame++) {
      const end = Math.min(samples.length, start + FRAME_SAMPLES);
      let high = -1;
      let low = 1;
      for (let i = start; i < end; i++) {
        const sample = samples[i] as number;
        if (sample > high) high = sample;
        if (sample < low) low = sample;
      }
      this.#addFrame({ high, low, speechFrames: speech[frame] === 1 ? 1 : 0, frames: 1 });
    }
  }

  done(): Outline {
    const bins = this.#last === undefined ? this.#bins : [...this.#bins, this.#last];
    return {
      binS: this.#framesPerBin / 100,
      bins: bins.map(({ high, low, speechFrames, frames }) => ({ high, low, speech: speechFrames / frames })),
    };
  }

  #addFrame(frame: OpenBin): void {
    this.#last = this.#last === undefined ? frame : joined(this.#last, frame);
    if (this.#last.frames < this.#framesPerBin) return;
    this.#bins.push(this.#last);
    this.#last = undefined;
    if (this.#bins.length < MAX_BINS) return;
    this.#bins = this.#bins.flatMap((bin, i) => (i % 2 === 0 ? joined(bin, this.#bins[i + 1]) : []));
    this.#framesPerBin *= 2;
  }
}
