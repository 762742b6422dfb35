// SPDX-License-Identifier: Apache-2.0
import pc from 'picocolors';
import { message, type Shown, shown, styled } from '../base/errors/shown-text.js';
import { print, printJson } from './output.js';

export type Result = 'ok' | 'missing' | 'failed' | 'found';

const marks: Readonly<Record<Result, Shown>> = {
  ok: styled(pc.green, 'ok     '),
  missing: styled(pc.red, 'missing'),
  failed: styled(pc.red, 'failed '),
  found: styled(pc.red, 'found  '),
};

/** A line of `veravox doctor`. */
export function say(name: string, finding: string, result: Result, json = false): void {
  if (json) printJson({ name, result, finding });
  else print(shown`${marks[result]}  ${name.padEnd(16)} ${message(finding, 26)}\n`);
}
