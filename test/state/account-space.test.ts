// SPDX-License-Identifier: Apache-2.0
//
// The count of an account's space is right again after a failure between an object's change and the count's.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { AccountSpace, MD5_BYTES } from '../../src/state/storage/account-space.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ACCOUNT = '0'.repeat(32);
const OVER = { key: 'ACCOUNT_QUOTA_EXCEEDED' };

function start(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const space = new AccountSpace(dataDir, { maxBytes: 100, maxObjects: 0 });
  const folder = path.join(dataDir, 'objects', ACCOUNT);
  fs.mkdirSync(folder, { recursive: true });
  const target = path.join(folder, '61.object');
  const store = async (): Promise<void> => fs.writeFileSync(target, Buffer.alloc(60 + MD5_BYTES));
  const refuseSecond = () => assert.rejects(space.check(ACCOUNT, path.join(folder, '62.object'), 50), OVER);
  return { space, target, store, refuseSecond, count: path.join(dataDir, 'quota', `${ACCOUNT}.json`) };
}

test('an object that is stored although its change fails is counted', async (t) => {
  const { space, target, store, refuseSecond } = start(t);
  await space.check(ACCOUNT, target, 60);
  const failure = new Error('The folder cannot be synced.');
  const work = async (): Promise<void> => {
    await store();
    throw failure;
  };
  await assert.rejects(space.change(ACCOUNT, target, 60, work), failure);
  await refuseSecond();
});

test('a change succeeds although its count cannot be written, and is counted later', async (t) => {
  const { space, target, store, refuseSecond, count } = start(t);
  await space.change(ACCOUNT, target, 60, async () => {
    await store();
    fs.mkdirSync(count);
  });
  fs.rmdirSync(count);
  await refuseSecond();
});
