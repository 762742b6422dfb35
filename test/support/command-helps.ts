// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { runCli } from './cli.js';

export interface CommandHelp {
  /** For example `keys create`. */
  readonly path: string;
  readonly text: string;
}

const printer = new URL('./print-helps.js', import.meta.url).href;

/** Every command except groups, with its help. */
export async function commandHelps(): Promise<CommandHelp[]> {
  const { status, stdout, stderr } = await runCli([], { NODE_OPTIONS: `--import=${printer}` });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}
