// SPDX-License-Identifier: Apache-2.0
//
// Objects take their folders with them when they go, and no upload fails or is lost because of that.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { DiskObjects } from '../../src/state/storage/disk-objects.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ROUNDS = 40;
const ENTITY = `${'0'.repeat(32)}/analysis/`;
/** In two folders below each other. */
const NAMES = Array.from({ length: 8 }, (_, i) => `${ENTITY}${'k'.repeat(60 * (1 + (i % 2)))}${i}`);

async function open(t: TestContext, maxObjects: number) {
  const dataDir = temporaryFolder(t);
  const quota = { maxBytes: 0, maxObjects };
  const objects = await DiskObjects.open({ dataDir, quota, reserveBytes: 0, ttlDays: 0 });
  const store = async (name: string): Promise<void> => {
    const upload = await objects.begin(name, []);
    await upload.finish().finally(() => upload.discard());
  };
  const listed = async () => (await objects.list(ENTITY, 100)).map(({ name }) => name);
  return { objects, store, listed, foldersLeft: () => fs.readdirSync(path.join(dataDir, 'objects')) };
}

for (const maxObjects of [0, NAMES.length]) {
  test(`the last object of a folder takes it along, with ${maxObjects || 'no'} limit of objects`, async (t) => {
    const { objects, store, listed, foldersLeft } = await open(t, maxObjects);
    const [first = '', second = ''] = NAMES;
    for (const name of [first, second]) await store(name);
    await objects.remove(second);
    assert.deepEqual(await listed(), [first]);
    await objects.remove(first);
    assert.deepEqual(foldersLeft(), ['incoming']);
    await store(first);
    assert.deepEqual(await listed(), [first]);
  });
}

test('uploads into folders that deletions empty at the same time are stored', {
  timeout: 60_000,
}, async (t) => {
  const { objects, store, listed, foldersLeft } = await open(t, 0);
  const each = (work: (name: string) => Promise<void>) => Promise.all(NAMES.map(work));
  await each(async (name) => {
    for (let round = 0; round < ROUNDS; round++) {
      await store(name);
      await (await objects.read(name)).close();
      await objects.remove(name);
    }
  });
  assert.deepEqual(foldersLeft(), ['incoming']);
  await each(store);
  assert.deepEqual(await listed(), NAMES.toSorted());
});
