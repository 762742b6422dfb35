// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from './support/cli.js';

const namesIn = (help: string): string[] => {
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
};

/** Every command that does something, with its help. */
async function commands(path: readonly string[] = []): Promise<[path: string, help: string][]> {
  const { status, stdout } = await runCli([...path, '--help']);
  assert.equal(status, 0);
  const children = namesIn(stdout);
  if (children.length === 0) return [[path.join(' '), stdout]];
  return (await Promise.all(children.map((name) => commands([...path, name])))).flat();
}

const all = await commands();

test('there are commands, those of keys and models among them', () => {
  const names = all.map(([name]) => name);
  for (const name of ['serve', 'predict', 'keys create', 'models check'])
    assert.ok(names.includes(name), name);
});

for (const [name, help] of all) {
  test(`the help of ${name} has examples that its options fit`, () => {
    const [, examples = ''] = help.split('\nExamples:\n');
    assert.notEqual(examples.trim(), '', help);
    const lines = examples.split('\n').filter((line) => /^ {2}\S/.test(line));
    assert.ok(lines.length > 0);
    for (const line of lines) {
      assert.match(line, new RegExp(`(veravox|dist/cli/main\\.js) ${name}( |\\)|$)`));
      const own = line.slice(line.indexOf(name));
      for (const [option] of own.matchAll(/--[a-z-]+/g)) {
        assert.ok(help.includes(`  ${option}`) || help.includes(`, ${option}`), `${option} of ${line}`);
      }
    }
    assert.doesNotMatch(help, /default: \[\]/);
  });
}
