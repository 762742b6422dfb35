// SPDX-License-Identifier: Apache-2.0
//
// Runs on the audio thread of the browser, in a file of its own.
import { PieceMaker } from '../../logic/pcm16.js';

declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

/** Audio per message: a stream wants 20 to 100 ms. */
const PIECE_S = 0.05;

class Capture extends AudioWorkletProcessor {
  readonly #maker = new PieceMaker(Math.round(PIECE_S * sampleRate));
  #isOver = false;

  constructor() {
    super();
    this.port.onmessage = () => {
      this.#isOver = true;
      this.#send(this.#maker.rest());
      this.port.postMessage('end');
    };
  }

  process([channels = []]: readonly (readonly Float32Array[])[]): boolean {
    if (!this.#isOver) this.#maker.push(channels, (piece) => this.#send(piece));
    return !this.#isOver;
  }

  #send(piece: Int16Array<ArrayBuffer>): void {
    this.port.postMessage(piece, [piece.buffer]);
  }
}

registerProcessor('capture', Capture);
