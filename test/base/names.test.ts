// SPDX-License-Identifier: Apache-2.0
//
// One rule for the names of keys and users, wherever they come from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable } from '../../dashboard/src/logic/printable.js';
import { isName, nameSchema, nearestName } from '../../src/base/contract/names.js';
import { escapeInvisible } from '../../src/base/errors/visible-text.js';
import { textTable } from '../../src/cli/text-table.js';
import { foldedName } from '../../src/console/users/user.js';
import { addUser, signIn } from '../support/admin.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { startJobServer } from '../support/job-server.js';

const misleading: readonly [text: string, what: string][] = [
  ['', 'nothing'],
  [' ', 'a space'],
  ['\u00a0', 'a space that does not break'],
  [' ada', 'a space first'],
  ['ada\u3000', 'a space last'],
  ['a\nb', 'a line break'],
  ['a\u001b[2Jb', 'a command for terminals'],
  ['a\u009bb', 'another one'],
  ['a\u202eb', 'another direction'],
  ['a\u2066b\u2069', 'an isolate'],
  ['a\u200eb', 'a mark of direction'],
  ['a\u061cb', 'the Arabic one'],
  ['a\u200bb', 'a space without width'],
  ['a\u2060b', 'a word joiner'],
  ['a\ufeffb', 'a byte order mark'],
  ['a\u00adb', 'a soft hyphen'],
  ['a\u034fb', 'a grapheme joiner'],
  ['\u3164', 'a filler'],
  ['\u2800', 'an empty pattern of Braille'],
  ['a\u2028b', 'a line separator'],
  ['a\u{e0041}b', 'a tag'],
  ['a\u{e0100}b', 'a variant, of which there are enough to hide a text'],
  ['a\ue000b', 'a character of private use'],
  ['\ud800', 'half a surrogate pair'],
  ['\u200dada', 'a joiner first'],
  ['ada\u200c', 'a joiner last'],
  ['ada \u200dlin', 'a joiner beside a space'],
  ['ad\u200d\u200da', 'two joiners'],
  ['\ufe0fada', 'a variant of nothing'],
  ['a\ufe0f\ufe0fda', 'a variant of a variant'],
  ['x'.repeat(101), 'too many characters'],
];

const good = [
  'ada',
  'Ada Lovelace',
  "O'Brien & <b>sons</b>",
  '\u97f3\u58f0',
  'Jose\u0301',
  // Words of Persian and Hindi that need joiners, and emoji made with them.
  '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  '\u0915\u094d\u200d\u0937',
  '\u{1f469}\u200d\u{1f680} crew',
  '\u2764\ufe0f\u200d\u{1f525}',
  '1\ufe0f\u20e3',
  'x'.repeat(100),
];

test('names are visible text', () => {
  for (const [text, what] of misleading) assert.equal(isName(text), false, what);
  for (const text of good) assert.equal(isName(text), true, escapeInvisible(text));
});

test('the pattern of the OpenAPI document takes every name', () => {
  for (const text of good) assert.match(text, new RegExp(nameSchema.pattern), escapeInvisible(text));
  for (const text of ['a\u202eb', 'a\u0000b', 'a\u200bb'])
    assert.doesNotMatch(text, new RegExp(nameSchema.pattern));
});

test('the dashboard replaces what the server escapes', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const isHidden = escapeInvisible(character) !== character;
    assert.equal(printable(character) !== character, isHidden, code.toString(16));
  }
});

test('the API refuses such names of users and keys, says why, and makes nothing', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'admin');
  const { call } = await signIn(port, 'admin');
  for (const [name, what] of misleading) {
    for (const [path, fields] of [
      ['/v1/admin/users', { role: 'viewer' }],
      ['/v1/admin/keys', { scopes: ['predict'] }],
    ] as const) {
      const { status, headers, json, text } = await call('POST', path, { ...fields, name });
      assert.deepEqual([status, headers['x-error-key']], [400, 'FIELD_INVALID'], what);
      assert.match(json.message, /1 to 100 visible characters, with spaces and joiners only between them/);
      assert.equal(escapeInvisible(text), text, 'the answer itself misleads nobody');
    }
  }
  assert.equal((await call('GET', '/v1/admin/users')).json.users.length, 1);
  assert.equal((await call('GET', '/v1/admin/keys')).json.keys.length, 0);
  for (const name of good) {
    const made = await call('POST', '/v1/admin/users', { name, role: 'viewer' });
    assert.deepEqual([made.status, made.json.user?.name], [201, name]);
    assert.equal((await call('POST', '/v1/admin/keys', { name, scopes: ['predict'] })).status, 201);
  }
});

test('so do the commands', async (t) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(t) };
  const name = 'a\u202eb';
  for (const args of [
    ['keys', 'create', '--name', name],
    ['admin', 'add', name, '--role', 'viewer'],
  ]) {
    const { status, stderr } = await runCli(args, env);
    assert.notEqual(status, 0);
    assert.match(stderr, /1 to 100 visible characters/);
  }
});

test('tables show a name from before the rule without letting it mislead', () => {
  assert.equal(
    textTable(['name', 'state'], [['a\u202eb', 'active']]).text,
    'name      state\na\\u202eb  active\n',
  );
});

test('names that differ in joiners only are the same user', () => {
  assert.equal(foldedName('a\u200dd\u200ca'), foldedName('ADA'));
  assert.equal(foldedName('\u2764\ufe0f'), foldedName('\u2764'));
});

test('somebody whose provider knows them by an impossible name gets the nearest one', () => {
  assert.equal(nearestName('\u202eada\u0000 '), 'ada');
  assert.equal(nearestName('\u0645\u06cc\u200c\u062e'), '\u0645\u06cc\u200c\u062e');
  assert.equal(nearestName('ada\u200d'), 'ada');
  assert.equal(nearestName('\u3164'), '');
});
