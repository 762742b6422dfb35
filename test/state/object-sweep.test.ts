// SPDX-License-Identifier: Apache-2.0
//
// The folder of one account that cannot be read does not keep the expired files of the others. Folders go with their last file.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { AccountSpace } from '../../src/state/storage/account-space.js';
import { sweepObjects } from '../../src/state/storage/object-sweep.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test('a damaged account is told, and the others are swept', async (t) => {
  const dataDir = temporaryFolder(t);
  const accounts = ['1', '2', '3'].map((digit) => path.join(dataDir, 'objects', digit.repeat(32)));
  const [, damaged = ''] = accounts;
  for (const folder of accounts) {
    if (folder === damaged) {
      fs.writeFileSync(folder, 'not a folder');
      continue;
    }
    // Earlier versions left the folders of deleted files.
    fs.mkdirSync(path.join(folder, 'analysis', '61~', '62~'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'analysis', '61.object'), Buffer.alloc(116));
  }
  const space = new AccountSpace(dataDir, { maxBytes: 0, maxObjects: 0 });
  const { objects, bytes, failures } = await sweepObjects(dataDir, space, 1, () => 2);
  assert.deepEqual([objects, bytes], [2, 200]);
  assert.match(String(failures), /ENOTDIR/);
  assert.equal(failures.length, 1);
  assert.deepEqual(fs.readdirSync(path.join(dataDir, 'objects')), [path.basename(damaged)]);
});
