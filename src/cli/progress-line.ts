// SPDX-License-Identifier: Apache-2.0
import type { AnalysisProgress } from '../pipeline/analysis.js';
import { bar, clock } from './prediction-table.js';

const showAfterMs = 500;
const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

/** The part of a terminal's stream that is used here. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows on a terminal how far a long file has come; does nothing for short files and on anything but a terminal. */
export class ProgressLine {
  readonly #output: ProgressOutput;
  readonly #title: string;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #drawnMs: number | undefined;

  constructor(output: ProgressOutput, title: string, nowMs = () => performance.now()) {
    this.#output = output;
    this.#title = title;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  show({ preparedS, scoredWindows, fileProgress }: AnalysisProgress): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#startedMs;
    if (!this.#output.isTTY || elapsedMs < showAfterMs) return;
    if (this.#drawnMs !== undefined && nowMs - this.#drawnMs < redrawMs) return;
    this.#drawnMs = nowMs;
    const speed = (preparedS / (elapsedMs / 1000)).toFixed(0);
    const percent = Math.floor(fileProgress * 100);
    const text =
      `${this.#title}  ${bar(fileProgress)} ${percent}%  ${clock(preparedS)}, ` +
      `${scoredWindows} segments scored, ${speed}x real time`;
    this.#output.write(eraseLine + text);
  }

  clear(): void {
    if (this.#drawnMs !== undefined) this.#output.write(eraseLine);
  }
}
