// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { accountFolder, loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
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
