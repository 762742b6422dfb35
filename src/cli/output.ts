// SPDX-License-Identifier: Apache-2.0
//
// The only way from a command to the terminal.
import type { Shown } from '../base/errors/shown-text.js';
import { escapeInvisibleInJson } from '../base/errors/visible-text.js';
import type { ProgressOutput } from './terminal-line.js';

/** What the command was asked for. */
export const print = (output: Shown): void => void process.stdout.write(output.text);

/** What people should know besides. */
export const tell = (note: Shown): void => void process.stderr.write(note.text);

/** What programs read, on a line of its own. */
export function printJson(value: unknown, indent?: number): void {
  const lines = JSON.stringify(value, undefined, indent).split('\n');
  process.stdout.write(`${lines.map(escapeInvisibleInJson).join('\n')}\n`);
}

export const progressOutput: ProgressOutput = {
  isTTY: process.stderr.isTTY,
  write: (text) => process.stderr.write(text),
};
