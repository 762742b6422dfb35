// SPDX-License-Identifier: Apache-2.0
//
// The only way from a command to the terminal.
import type { Shown } from '../base/errors/shown-text.js';
import { escapeInvisibleInJson } from '../base/errors/visible-text.js';
import type { ProgressOutput } from './terminal-line.js';

/** The answer of the command. */
export const print = (output: Shown): void => void process.stdout.write(output.text);

/** Notes for people. */
export const tell = (note: Shown): void => void process.stderr.write(note.text);

/** An answer for programs, on a line of its own. */
export function printJson(value: unknown, indent?: number): void {
  const lines = JSON.stringify(value, undefined, indent).split('\n');
  process.stdout.write(`${lines.map(escapeInvisibleInJson).join('\n')}\n`);
}

export const progressOutput: ProgressOutput = {
  isTTY: process.stderr.isTTY,
  get columns() {
    return process.stderr.columns;
  },
  write: (text) => process.stderr.write(text),
};
