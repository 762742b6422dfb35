// SPDX-License-Identifier: Apache-2.0

const HIGHEST = 0x7fff;

/** Collects samples of all channels, and gives their mean in pieces of 16 bits. */
export class PieceMaker {
  readonly #pieceSamples: number;
  #piece: Int16Array<ArrayBuffer>;
  #filled = 0;

  constructor(pieceSamples: number) {
    this.#pieceSamples = pieceSamples;
    this.#piece = new Int16Array(pieceSamples);
  }

  /**
   * @param channels samples from -1 to 1, equally many of each channel
   * @param onPiece gets each full piece, which is its own
   */
  push(channels: readonly Float32Array[], onPiece: (piece: Int16Array<ArrayBuffer>) => void): void {
    const length = channels[0]?.length ?? 0;
    for (let i = 0; i < length; i++) {
      let sum = 0;
      for (const channel of channels) sum += channel[i] ?? 0;
      const sample = Math.max(-1, Math.min(1, sum / channels.length));
      this.#piece[this.#filled++] = Math.round(sample * HIGHEST);
      if (this.#filled === this.#pieceSamples) {
        const full = this.#piece;
        this.#piece = new Int16Array(this.#pieceSamples);
        this.#filled = 0;
        onPiece(full);
      }
    }
  }

  /** The rest at the end; may be empty. */
  rest(): Int16Array<ArrayBuffer> {
    const rest = this.#piece.slice(0, this.#filled);
    this.#filled = 0;
    return rest;
  }
}

export interface Level {
  /** Root mean square in dB below full scale; -Infinity for digital silence. */
  readonly dbfs: number;
  /** Whether a sample is at the end of the scale. */
  readonly isClipped: boolean;
}

export function levelOf(piece: Int16Array): Level {
  let power = 0;
  let isClipped = false;
  for (const sample of piece) {
    power += sample * sample;
    isClipped ||= Math.abs(sample) >= HIGHEST;
  }
  return { dbfs: 10 * Math.log10(power / Math.max(1, piece.length) / HIGHEST ** 2), isClipped };
}
