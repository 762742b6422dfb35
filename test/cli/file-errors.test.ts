// SPDX-License-Identifier: Apache-2.0
//
// Every command names an unreadable file in a plain sentence, without Node's codes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { messageOf } from '../../src/base/errors/message-of.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { commandHelps } from '../support/command-helps.js';
import { writeTinyVoices } from '../support/speaker-models.js';

const recording = path.join(packageDir, 'test/fixtures/human-lj-a.flac');

/** Every argument that names an existing file; FILE stands for the unreadable one. */
const commands: readonly (readonly string[])[] = [
  ['predict', 'FILE'],
  ['predict', '--json', 'FILE'],
  ['enroll', 'FILE'],
  ['verify', 'FILE', '--vector', 'FILE'],
  ['verify', recording, '--vector', 'FILE'],
  ['identify', recording, '--voiceprints', 'FILE'],
  ['bench', 'http://127.0.0.1:1', '--key-file', 'FILE'],
  ['bench', 'http://127.0.0.1:1', 'FILE', '--key-file', recording],
  ['evaluate', 'FILE'],
  ['calibrate', 'FILE', '--name', 'a', '--target-fpr', '0.1'],
  ['models', 'calibrate', 'tiny', 'FILE', '--models-dir', 'OWN'],
  ['models', 'import', 'xlsr-aasist', 'FILE', '--models-dir', 'OWN'],
  ['models', 'check', '--models-dir', 'FILE'],
];

test('no command that takes a file is missing here', async () => {
  const taking = (await commandHelps()).filter(({ text }) =>
    /^Usage: .*<(?:file|list|checkpoint)(?:\.\.\.)?>/m.test(text),
  );
  const known = commands.map((words) => words.join(' '));
  for (const { path: name } of taking) {
    // It counts its files before it reads any.
    if (name === 'profiles make') continue;
    assert.ok(
      known.some((words) => words.startsWith(name)),
      name,
    );
  }
});

test('each says what is wrong with the file', async (t) => {
  const folder = temporaryFolder(t);
  const own = path.join(folder, 'own');
  fs.mkdirSync(own);
  writeTinyVoices(own);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data'), VERAVOX_MODELS_DIR: own };
  const loop = path.join(folder, 'loop');
  fs.symlinkSync(loop, loop);
  // Contains no recording.
  const empty = path.join(folder, 'empty');
  fs.mkdirSync(empty);
  for (const [i, command] of commands.entries()) {
    // All of them with each command would take minutes.
    const files = [path.join(folder, 'none.wav'), [empty, loop, path.join(recording, 'x')][i % 3] ?? empty];
    for (const file of files) {
      const words = command.map((word) => ({ FILE: file, OWN: own })[word] ?? word);
      const { status, stderr, stdout } = await runCli(words, env);
      const said = `${stderr}${stdout}`;
      assert.equal(status, 1, `${words.join(' ')}: ${said}`);
      assert.ok(said.includes(file), `${words.join(' ')}: ${said}`);
      assert.doesNotMatch(said, /\bE[A-Z]{3,}\b|\bat .*\.js:\d|illegal operation/, words.join(' '));
    }
  }
});

test('no permission, a full disk and a failing one are sentences, too', () => {
  for (const code of ['EACCES', 'EPERM', 'ENOSPC', 'EIO', 'EROFS', 'ENAMETOOLONG']) {
    const error = Object.assign(new Error(`${code}: text`), { code, syscall: 'open', path: '/a' });
    assert.match(messageOf(error), /^[A-Z][a-z -]+: \/a\.$/);
  }
});
