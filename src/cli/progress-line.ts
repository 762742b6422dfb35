// SPDX-License-Identifier: Apache-2.0
import type { WriteStream } from 'node:tty';
import type { AnalysisProgress } from '../pipeline/analysis.js';
import { clock } from './prediction-table.js';

const showAfterMs = 500;
const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

/** Shows on a terminal how far a long file has come; does nothing for short files and on anything but a terminal. */
export class ProgressLine {
  readonly #stream: Pick<WriteStream, 'isTTY' | 'write'>;
  readonly #title: string;
  readonly #startedMs = performance.now();
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(stream: Pick<WriteStream, 'isTTY' | 'write'>, title: string) {
    this.#stream = stream;
    this.#title = title;
  }

  show({ preparedS, scoredWindows }: AnalysisProgress): void {
    const nowMs = performance.now();
    if (!this.#stream.isTTY || nowMs - this.#startedMs < showAfterMs || nowMs - this.#drawnMs < redrawMs)
      return;
    this.#drawnMs = nowMs;
    const speed = preparedS / ((nowMs - this.#startedMs) / 1000);
    this.#stream.write(
      `${eraseLine}${this.#title}  ${clock(preparedS)} read, ${scoredWindows} segments scored, ${speed.toFixed(0)}x real time`,
    );
  }

  clear(): void {
    if (this.#drawnMs > 0) this.#stream.write(eraseLine);
  }
}
