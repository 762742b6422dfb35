// SPDX-License-Identifier: Apache-2.0
//
// The code on the page stays valid, whatever the file names.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'acorn';
import { bytesInWords } from '../../../dashboard/src/logic/bytes.js';
import { nextSteps } from '../../../dashboard/src/logic/next-steps.js';
import { printable } from '../../../dashboard/src/logic/printable.js';
import {
  curlOf,
  objectKeyOf,
  pythonOf,
  type SentRequest,
  typescriptOf,
} from '../../../dashboard/src/logic/snippets.js';
import { catalogue } from '../../../src/base/errors/catalogue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const names = [
  'call.wav',
  `it's "a" $(touch x) \`touch y\`.wav`,
  '-rf',
  'a;b=c,d\\.wav',
  'tab\there\nline.wav',
  '日本.wav',
];
const links = ['https://host.example/a?b=c&d=e', `https://host.example/'"$(touch x)`];

function* requests(): Generator<SentRequest> {
  const baseUrl = 'http://127.0.0.1:8080/';
  const fields = { model: 'a-model', threshold: 0.4, silence_threshold: 50 };
  for (const kind of ['predict', 'job'] as const) {
    for (const fileName of names) {
      yield { baseUrl, kind, source: { fileName }, fields: {} };
      yield { baseUrl, kind, source: { fileName }, fields };
    }
    for (const link of links) yield { baseUrl, kind, source: { link }, fields };
  }
}

test('curl gets what the request says, and the shell runs nothing else', (t) => {
  const folder = temporaryFolder(t);
  // Writes down its arguments, and answers with a link.
  const curl = path.join(folder, 'curl');
  fs.writeFileSync(
    curl,
    `#!/bin/sh\nprintf '%s\\0' "$@" >> "$LIST"\necho '{"url":[{"value":"http://link"}]}'\n`,
  );
  fs.chmodSync(curl, 0o755);
  for (const request of requests()) {
    const list = path.join(folder, 'list');
    fs.rmSync(list, { force: true });
    const empty = temporaryFolder(t);
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, LIST: list };
    execFileSync('sh', ['-euc', curlOf(request)], { cwd: empty, env });
    const given = fs.readFileSync(list, 'utf8').split('\0');
    assert.deepEqual(fs.readdirSync(empty), []);
    assert.ok(given.includes('x-api-key: YOUR_API_KEY'));
    const { source, kind } = request;
    if ('link' in source) {
      const json = JSON.parse(given[given.indexOf('--data-raw') + 1] ?? '');
      assert.equal(json.presigned_url, source.link);
    } else if (kind === 'predict') {
      const quoted = source.fileName.replace(/[\\"]/g, '\\$&');
      assert.ok(given.includes(`file=@"${quoted}"`), given.join(' '));
    } else {
      const stored = given[given.indexOf('--upload-file') + 1] ?? '';
      assert.equal(path.normalize(stored), source.fileName);
      assert.ok(given.includes('http://link'));
    }
  }
});

test('the other languages can read their code', (t) => {
  const folder = temporaryFolder(t);
  const scripts: string[] = [];
  for (const request of requests()) {
    parse(typescriptOf(request), {
      ecmaVersion: 2023,
      sourceType: 'module',
      allowAwaitOutsideFunction: true,
    });
    scripts.push(pythonOf(request));
  }
  const file = path.join(folder, 'scripts.json');
  fs.writeFileSync(file, JSON.stringify(scripts));
  const check = 'import json,sys\nfor s in json.load(open(sys.argv[1])): compile(s, "script", "exec")';
  execFileSync('/usr/bin/python3', ['-c', check, file]);
});

test('marks that turn the direction of text are written out in code', () => {
  const source = { fileName: 'a\u202egpj.wav' };
  const request: SentRequest = { baseUrl: 'http://h/', kind: 'predict', source, fields: {} };
  assert.match(typescriptOf(request), /a\\u202egpj\.wav/);
  assert.match(pythonOf(request), /a\\u202egpj\.wav/);
});

test('keys of stored files are made of harmless characters', () => {
  assert.equal(objectKeyOf('../../etc/passwd'), '..-..-etc-passwd');
  assert.equal(objectKeyOf('日本'), '-');
  assert.equal(objectKeyOf(''), 'recording');
  assert.equal(objectKeyOf('x'.repeat(300)).length, 100);
});

test('names are shown without characters that have no shape or change that of others', () => {
  assert.equal(printable('a\u202eb\u0000c\u200fd\ud800e\u2028f'), 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf');
  assert.equal(printable('Müller 日本 🎧'), 'Müller 日本 🎧');
  for (const joined of [
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u{1f469}\u200d\u{1f680}',
    '\u0915\u094d\u200d\u0937',
  ]) {
    assert.equal(printable(joined), joined);
  }
});

test('sizes are told in few digits', () => {
  assert.deepEqual([0, 1, 999, 1000, 9949, 9999, 123_456, 999_600, 4.2e9, 5e15].map(bytesInWords), [
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1.0 kB',
    '9.9 kB',
    '10 kB',
    '123 kB',
    '1.0 MB',
    '4.2 GB',
    '5000 TB',
  ]);
});

test('the page knows what to do next only after errors that the server has', () => {
  const keys = Object.keys(catalogue);
  assert.deepEqual(
    [...nextSteps.keys()].filter((key) => !keys.includes(key)),
    [],
  );
});
