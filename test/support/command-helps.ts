// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { runCli } from './cli.js';

export interface CommandHelp {
  /** For example `keys create`. */
  readonly path: string;
  readonly text: string;
}

const namesIn = (help: string): string[] => {
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
};

/** Every command except groups, with its help. */
export async function commandHelps(path: readonly string[] = []): Promise<CommandHelp[]> {
  const { status, stdout } = await runCli([...path, '--help']);
  assert.equal(status, 0);
  // An unknown name gets the help of its parent, whose commands would be visited again endlessly.
  assert.match(stdout, new RegExp(`^Usage: veravox ${path.join(' ')}`));
  const children = namesIn(stdout);
  if (children.length === 0) return [{ path: path.join(' '), text: stdout }];
  return (await Promise.all(children.map((name) => commandHelps([...path, name])))).flat();
}
