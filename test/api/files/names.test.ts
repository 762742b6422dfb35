// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { MAX_KEY_BYTES } from '../../../src/base/contract/limits.js';
import { fileOfName, parseName, pieceOfEntry } from '../../../src/state/storage/object-name.js';

const folder = '0123456789abcdef'.repeat(2);
const fileOf = (key: string): string =>
  fileOfName(parseName(`${folder}/analysis/${key}`) ?? assert.fail(`No name: ${key}`));

test('what is no name of an object', () => {
  for (const name of [
    '',
    '/',
    'a/b/c',
    `${folder}/analysis`,
    `${folder}/analysis/`,
    `${folder}/analysis//`,
    `${folder}/Analysis/a`,
    `${folder}/../a`,
    `${folder.toUpperCase()}/analysis/a`,
    `${folder}0/analysis/a`,
    `../${folder}/analysis/a`,
    `${folder}/analysis/..`,
    `${folder}/analysis/a/../b`,
    `${folder}/analysis/a/.`,
    `${folder}/analysis/a\u0000`,
    `${folder}/analysis/a\u007f`,
    `${folder}/analysis/\ud800`,
    `${folder}/analysis/${'k'.repeat(MAX_KEY_BYTES + 1)}`,
    `${folder}/analysis/${'é'.repeat(MAX_KEY_BYTES / 2)}k`,
  ]) {
    assert.equal(parseName(name), undefined, name);
  }
});

test('every key stays in its folder, under names that every file system takes', () => {
  for (const key of [
    'a',
    'a/b',
    '...',
    '~',
    'CON',
    'a:b\\c',
    '-rf',
    'k'.repeat(512),
    '音'.repeat(170),
    'é '.repeat(100),
  ]) {
    const file = fileOf(key);
    assert.ok(path.normalize(file) === file && file.startsWith(`${folder}/analysis/`), key);
    for (const part of file.split('/')) {
      assert.ok(Buffer.byteLength(part) <= 128, part);
      assert.match(part, /^[0-9a-z.~]+$/);
    }
  }
});

test('different keys are different files, also where letter case does not count, and none is the folder of another', () => {
  const long = 'k'.repeat(60);
  const keys = ['a', 'A', 'a/', 'a/b', 'é', 'e\u0301', long, `${long}a`, `${long}${long}`, `${long}/${long}`];
  const files = keys.map((key) => fileOf(key).toLowerCase());
  assert.equal(new Set(files).size, keys.length);
  for (const file of files) assert.ok(!files.some((other) => other.startsWith(`${file}/`)), file);
});

test('the key can be read from the file again', () => {
  for (const key of ['a', 'a/b', 'é 音', 'k'.repeat(512)]) {
    const pieces = fileOf(key)
      .split('/')
      .slice(2)
      .map((entry) => pieceOfEntry(entry) ?? assert.fail(entry));
    assert.equal(Buffer.from(pieces.map(({ hex }) => hex).join(''), 'hex').toString(), key);
    assert.deepEqual(
      pieces.map(({ isFile }) => isFile),
      pieces.map((_, i) => i === pieces.length - 1),
    );
  }
  for (const entry of ['lost+found', '.DS_Store', '61', '61.object.tmp', 'xy.object']) {
    assert.equal(pieceOfEntry(entry), undefined, entry);
  }
});
