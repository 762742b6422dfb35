// SPDX-License-Identifier: Apache-2.0
import type { Shown } from '../base/errors/shown-text.js';

const showAfterMs = 500;
const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

/** The part of a terminal's stream that is used here. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  /** Width of the terminal now. */
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * A line on a terminal that is redrawn at most ten times a second, starting after half a second. Does nothing if the
 * output is not a terminal.
 */
export class TerminalLine {
  readonly #output: ProgressOutput;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #drawnMs: number | undefined;

  constructor(output: ProgressOutput, nowMs = () => performance.now()) {
    this.#output = output;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  /** @param textAfter makes the line from the time since construction; called only if the line is drawn */
  draw(textAfter: (elapsedMs: number) => Shown): void {
    const nowMs = this.#nowMs();
    const elapsedMs = nowMs - this.#startedMs;
    if (!this.#output.isTTY || elapsedMs < showAfterMs) return;
    if (this.#drawnMs !== undefined && nowMs - this.#drawnMs < redrawMs) return;
    this.#drawnMs = nowMs;
    const columns = this.#output.columns || Number.POSITIVE_INFINITY;
    // Erasing reaches one line only: a longer text would stay.
    const characters = [...textAfter(elapsedMs).text].slice(0, columns - 1);
    this.#output.write(eraseLine + characters.join(''));
  }

  clear(): void {
    if (this.#drawnMs === undefined) return;
    this.#output.write(eraseLine);
    // Text printed in its place stays; the next drawing need not wait.
    this.#drawnMs = undefined;
  }
}
