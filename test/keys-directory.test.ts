// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { KeyDirectory, KeyFileError } from '../src/state/keys/key-directory.js';

const predictOnly = { name: 'test', scopes: ['predict'] } as const;

function directory(context: TestContext): KeyDirectory {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-keys-'));
  context.after(() => fs.rmSync(dataDir, { recursive: true }));
  return new KeyDirectory(dataDir);
}

const damage: readonly [what: string, change: (text: string) => string, message: RegExp][] = [
  ['cut off in the middle', (text) => text.slice(0, text.length / 2), /is damaged: .*JSON/],
  ['empty', () => '', /is damaged/],
  ['of another key', (text) => text.replace(/"id": "..../, '"id": "zzzz'), /Expected [0-9a-f]{12} for id/],
  [
    'without a hash',
    (text) => text.replace('secretSha256', 'secret'),
    /64 hexadecimal digits for secretSha256/,
  ],
  [
    'with an unknown scope',
    (text) => text.replace('"predict"', '"all"'),
    /predict, voiceid, file, admin for scopes/,
  ],
  [
    'with a wrong date',
    (text) => text.replace(/"createdAt": "[^"]*"/, '"createdAt": "soon"'),
    /a date for createdAt/,
  ],
  [
    'with a rate of nothing',
    (text) => text.replace('"name"', '"rate": {}, "name"'),
    /requests and a windowS of 1 to 86400 for rate/,
  ],
  [
    'with a negative concurrency',
    (text) => text.replace('"name"', '"concurrency": -1, "name"'),
    /a whole number for concurrency/,
  ],
  ['a list', () => '[]', /is damaged/],
];
for (const [what, change, message] of damage) {
  test(`a key file that is ${what} is an error that names it, and it is left alone`, (context) => {
    const keys = directory(context);
    const file = path.join(keys.dir, `${keys.create(predictOnly).key.id}.json`);
    const damaged = change(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, damaged);
    assert.throws(
      () => keys.list(),
      (error) => error instanceof KeyFileError && error.message.includes(file) && message.test(error.message),
    );
    assert.equal(fs.readFileSync(file, 'utf8'), damaged);
  });
}

test('a damaged key does not keep another from being revoked', (context) => {
  const keys = directory(context);
  const { key } = keys.create(predictOnly);
  fs.writeFileSync(path.join(keys.dir, '000000000000.json'), '{');
  assert.equal(keys.revoke(key.id), true);
});

test('revoking what is no key changes nothing', (context) => {
  const keys = directory(context);
  keys.create(predictOnly);
  fs.writeFileSync(path.join(keys.dir, '../outside.json'), 'untouched');
  for (const id of ['000000000000', '../outside', '', '.']) assert.equal(keys.revoke(id), false, id);
  assert.equal(fs.readFileSync(path.join(keys.dir, '../outside.json'), 'utf8'), 'untouched');
});

test('without a directory there are no keys', (context) => {
  assert.deepEqual(directory(context).list(), []);
});

test('a key is stored by the hash of its secret, readable by its owner only', (context) => {
  const keys = directory(context);
  const { key, text } = keys.create(predictOnly);
  const secret = text.split('_').slice(2).join('_');
  assert.equal(Buffer.from(secret, 'base64url').length, 32);
  assert.equal(key.secretSha256, createHash('sha256').update(secret).digest('hex'));
  const file = path.join(keys.dir, `${key.id}.json`);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(keys.dir).mode & 0o777, 0o700);
  assert.deepEqual(fs.readdirSync(keys.dir), [`${key.id}.json`]);
  assert.ok(!fs.readFileSync(file, 'utf8').includes(secret));
});

test('what was created is listed, oldest first, with all it was given', (context) => {
  const keys = directory(context);
  const expiresAt = new Date('2031-01-01T00:00:00Z');
  const limits = { rate: { requests: 5, windowS: 60 }, concurrency: 0, account: 'acme' };
  const wanted = { name: 'b', scopes: ['voiceid', 'file'], expiresAt, ...limits } as const;
  const second = keys.create(wanted, new Date(2000)).key;
  const first = keys.create({ name: 'a', scopes: [] }, new Date(1000)).key;
  assert.deepEqual(keys.list(), [first, second]);
});

test('a key file from before there were accounts and limits is still good', (context) => {
  const keys = directory(context);
  const { key } = keys.create(predictOnly);
  const file = path.join(keys.dir, `${key.id}.json`);
  const { account: _none, ...old } = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, JSON.stringify(old));
  assert.deepEqual(keys.list(), [key]);
});

test('a revoked key stays listed with the time of its first revocation', (context) => {
  const keys = directory(context);
  const { key } = keys.create(predictOnly);
  assert.equal(keys.revoke(key.id, new Date(5000)), true);
  assert.equal(keys.revoke(key.id, new Date(9000)), true);
  assert.deepEqual(keys.list(), [{ ...key, revokedAt: new Date(5000) }]);
});

test('keys created at the same time by several threads are all there', async (context) => {
  const keys = directory(context);
  const source = `
    const { workerData } = require('node:worker_threads');
    import(workerData.module).then(({ KeyDirectory }) => {
      const keys = new KeyDirectory(workerData.dataDir);
      for (let i = 0; i < 20; i++) {
        const { key } = keys.create({ name: String(i), scopes: ['predict'] });
        keys.list();
        if (i % 2 === 0) keys.revoke(key.id);
      }
    });`;
  const workerData = {
    module: new URL('../src/state/keys/key-directory.js', import.meta.url).href,
    dataDir: path.dirname(keys.dir),
  };
  await Promise.all(
    Array.from({ length: 4 }, () => {
      const worker = new Worker(source, { eval: true, workerData });
      return new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
    }),
  );
  const stored = keys.list();
  assert.equal(stored.length, 80);
  assert.equal(stored.filter((key) => key.revokedAt !== undefined).length, 40);
});
