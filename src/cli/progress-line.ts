// SPDX-License-Identifier: Apache-2.0
import type { AnalysisProgress } from '../analysis/analyser/analyser.js';
import { shown } from '../base/errors/shown-text.js';
import { progressOutput } from './output.js';
import { bar, clock } from './prediction-table.js';
import { type ProgressOutput, TerminalLine } from './terminal-line.js';

/** Shows the progress of a long file on a terminal. */
export class ProgressLine {
  readonly #line: TerminalLine;
  readonly #title: string;

  constructor(output: ProgressOutput, title: string, nowMs?: () => number) {
    this.#line = new TerminalLine(output, nowMs);
    this.#title = title;
  }

  show({ preparedS, scoredWindows, fileProgress }: AnalysisProgress): void {
    this.#line.draw((elapsedMs) => {
      const speed = (preparedS / (elapsedMs / 1000)).toFixed(0);
      const percent = Math.floor(fileProgress * 100);
      return shown`${this.#title}  ${bar(fileProgress)} ${percent}%  ${clock(preparedS)}, ${scoredWindows} windows scored, ${speed} times real time`;
    });
  }

  clear(): void {
    this.#line.clear();
  }
}

/** The progress of a command with many files. */
export const showListProgress = (files: number): ListProgressLine =>
  new ListProgressLine(progressOutput, files);

/** Shows the progress of many files on a terminal. */
export class ListProgressLine {
  readonly #line: TerminalLine;
  readonly #total: number;
  #done = 0;
  #failed = 0;

  constructor(output: ProgressOutput, total: number, nowMs?: () => number) {
    this.#line = new TerminalLine(output, nowMs);
    this.#total = total;
  }

  /** One more file is done. */
  add(isFailure: boolean): void {
    this.#done++;
    if (isFailure) this.#failed++;
    this.#line.draw((elapsedMs) => {
      const filesPerS = this.#done / (elapsedMs / 1000);
      const leftS = (this.#total - this.#done) / filesPerS;
      const failures = this.#failed === 0 ? '' : `, ${this.#failed} without a score`;
      return shown`${bar(this.#done / this.#total)} ${this.#done} of ${this.#total} files, ${filesPerS.toFixed(1)}/s, ${clock(leftS)} left${failures}`;
    });
  }

  clear(): void {
    this.#line.clear();
  }
}
