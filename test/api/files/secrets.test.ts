// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SigningCredentials } from '../../../src/state/storage/signing-credentials.js';
import { accountFolder, loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

test('damaged secrets are an error that names the file, and are never replaced', (t) => {
  const dataDir = temporaryFolder(t);
  const file = path.join(dataDir, 'storage.json');
  for (const content of ['', '{', '[]', '{"accessKeyId":"VX0123456789012345"}', '{"accessKeyId":""}']) {
    fs.writeFileSync(file, content);
    assert.throws(
      () => loadStorageSecrets(dataDir),
      /The storage secrets in .*storage\.json are damaged: .*Restore/,
    );
    assert.equal(fs.readFileSync(file, 'utf8'), content);
  }
});

const pairOf = (letter: string) => ({
  accessKeyId: `VX${letter.repeat(18)}`,
  secretAccessKey: letter.repeat(40),
});

test('earlier credentials that are damaged or name an id twice are an error', (t) => {
  const dataDir = temporaryFolder(t);
  const file = path.join(dataDir, 'storage.json');
  const secrets = { version: 1, ...pairOf('A'), accountSecret: 's'.repeat(32) };
  for (const [earlierCredentials, problem] of [
    ['VXBBBBBBBBBBBBBBBBBB', /a list for earlierCredentials/],
    [[null], /for earlierCredentials\[0\]\.accessKeyId/],
    [[pairOf('B'), { accessKeyId: pairOf('C').accessKeyId }], /for earlierCredentials\[1\]\.secretAccessKey/],
    [[{ ...pairOf('B'), accessKeyId: pairOf('A').accessKeyId }], /VXA+ is there twice/],
    [[pairOf('B'), pairOf('B')], /VXB+ is there twice/],
  ] as const) {
    fs.writeFileSync(file, JSON.stringify({ ...secrets, earlierCredentials }));
    assert.throws(() => loadStorageSecrets(dataDir), problem);
  }
  fs.writeFileSync(file, JSON.stringify({ ...secrets, earlierCredentials: [] }));
  assert.equal(loadStorageSecrets(dataDir).accessKeyId, pairOf('A').accessKeyId);
});

test('a flood of unknown ids rarely looks at the file', (t) => {
  const dataDir = temporaryFolder(t);
  const credentials = new SigningCredentials(loadStorageSecrets(dataDir), dataDir);
  const looks = t.mock.method(fs, 'statSync').mock;
  const beganMs = performance.now();
  for (let i = 0; i < 1000; i++) assert.equal(credentials.find(`unknown-${i}`), undefined);
  const expected = 1 + Math.floor((performance.now() - beganMs) / 100);
  assert.ok(looks.callCount() >= 1 && looks.callCount() <= expected, `${looks.callCount()} of ${expected}`);
});

test('credentials are renewed whole or not at all, with the same secret of accounts', async (t) => {
  const dataDir = temporaryFolder(t);
  const file = path.join(dataDir, 'storage.json');
  const first = loadStorageSecrets(dataDir);
  const credentials = new SigningCredentials(first, dataDir);
  const changed = { version: 1, ...pairOf('A'), accountSecret: first.accountSecret };
  for (const [content, problem] of [
    ['{', /are damaged/],
    [
      JSON.stringify({ ...changed, accountSecret: 'another secret of some length' }),
      /accountSecret .*has changed/,
    ],
    [JSON.stringify({ ...changed, earlierCredentials: [{}] }), /earlierCredentials/],
    [undefined, /has vanished/],
  ] as const) {
    if (content === undefined) fs.rmSync(file);
    else fs.writeFileSync(file, content);
    assert.throws(() => credentials.renew(), problem);
    assert.equal(credentials.current.accessKeyId, first.accessKeyId);
    assert.equal(credentials.find(pairOf('A').accessKeyId), undefined);
    assert.ok(credentials.find(first.accessKeyId));
  }
  fs.writeFileSync(file, JSON.stringify(changed));
  // Signed by another process that has heard of it first.
  const { accessKeyId, secretAccessKey } = pairOf('A');
  await eventually(() => credentials.find(accessKeyId)?.secretAccessKey === secretAccessKey, 'it is found');
  assert.equal(credentials.find(first.accessKeyId), undefined);
});

test('secrets are made once, for the owner only, and differ from server to server', (t) => {
  const dataDir = path.join(temporaryFolder(t), 'new');
  const secrets = loadStorageSecrets(dataDir);
  assert.deepEqual(loadStorageSecrets(dataDir), secrets);
  assert.deepEqual(fs.readdirSync(dataDir), ['storage.json']);
  assert.equal(fs.statSync(path.join(dataDir, 'storage.json')).mode & 0o777, 0o600);
  const others = loadStorageSecrets(temporaryFolder(t));
  for (const field of ['accessKeyId', 'secretAccessKey', 'accountSecret'] as const) {
    assert.notEqual(secrets[field], others[field]);
  }
});

test("an account's folder is always the same, and says nothing about others", (t) => {
  const secrets = loadStorageSecrets(temporaryFolder(t));
  const folders = ['default', 'defaul', 'default1', ''].map((account) => accountFolder(secrets, account));
  assert.equal(new Set(folders).size, folders.length);
  for (const folder of folders) assert.match(folder, /^[0-9a-f]{32}$/);
  assert.equal(accountFolder(secrets, 'default'), folders[0]);
});
