// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from '../support/cli.js';
import { commandHelps } from '../support/command-helps.js';

const all = await commandHelps();

test('there are commands, those of keys and models among them', () => {
  const names = all.map(({ path }) => path);
  for (const name of ['serve', 'predict', 'keys create', 'models check'])
    assert.ok(names.includes(name), name);
});

test('veravox --help lists them, and --help of a command prints its help', async () => {
  const [whole, group, command] = await Promise.all(
    [[], ['keys'], ['keys', 'create']].map((words) => runCli([...words, '--help'])),
  );
  for (const { path } of all)
    assert.match(whole?.stdout ?? '', new RegExp(`^  ${path.split(' ')[0]}\\b`, 'm'));
  assert.match(group?.stdout ?? '', /^ {2}create\b/m);
  assert.equal(command?.stdout, all.find(({ path }) => path === 'keys create')?.text);
  assert.deepEqual([whole?.status, group?.status, command?.status], [0, 0, 0]);
});

for (const { path: name, text: help } of all) {
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
