// SPDX-License-Identifier: Apache-2.0
//
// Objects of unknown size, in the data folder and in an independent S3 service.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { ObjectStorage } from '../../src/state/storage/object-storage.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { startSwift } from '../support/storages.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';

const PIECE_BYTES = 5 << 20;

const piece = (number: number): Uint8Array => Buffer.alloc(PIECE_BYTES, `piece ${number}`);

async function* pieces(count: number, failsAfter = Number.POSITIVE_INFINITY) {
  for (let i = 0; i < count; i++) {
    if (i === failsAfter) throw new Error('The source is gone.');
    yield piece(i);
  }
}

async function hashOf(storage: ObjectStorage, name: string): Promise<string> {
  const source = await storage.openSource(name);
  const hash = createHash('sha256');
  for (let offset = 0; offset < source.bytes; offset += PIECE_BYTES) {
    const block = new Uint8Array(Math.min(PIECE_BYTES, source.bytes - offset));
    await source.read(block, offset, new AbortController().signal);
    hash.update(block);
  }
  await source.close();
  return hash.digest('hex');
}

const expected = (count: number): string => {
  const hash = createHash('sha256');
  for (let i = 0; i < count; i++) hash.update(piece(i));
  return hash.digest('hex');
};

async function embedded(t: TestContext): Promise<ObjectStorage> {
  const { storage, folderOf } = await openStorage({ ...testConfig, dataDir: temporaryFolder(t) });
  folder = folderOf('one');
  return storage;
}

async function bucket(t: TestContext): Promise<ObjectStorage> {
  const storageEndpoint = await startSwift(t);
  process.env.AWS_ACCESS_KEY_ID = 'test:tester';
  process.env.AWS_SECRET_ACCESS_KEY = 'testing';
  const config = { ...testConfig, dataDir: temporaryFolder(t), storageBucket: 'veravox', storageEndpoint };
  const { storage, folderOf } = await openStorage(config);
  folder = folderOf('one');
  return storage;
}

let folder: string;

for (const [name, open] of Object.entries({ 'the data folder': embedded, S3: bucket })) {
  test(`objects of any size arrive in ${name} whole, or not at all`, async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    // Five make two parts in S3.
    for (const count of [0, 1, 5]) {
      await storage.writeFrom(`${folder}/results/${count}`, pieces(count));
      assert.equal(await hashOf(storage, `${folder}/results/${count}`), expected(count), `${count} pieces`);
    }
    await assert.rejects(storage.writeFrom(`${folder}/results/5`, pieces(5, 4)), /The source is gone/);
    await assert.rejects(storage.writeFrom(`${folder}/results/new`, pieces(5, 4)), /The source is gone/);
    assert.equal(await hashOf(storage, `${folder}/results/5`), expected(5), 'the old one stays');
    const names = (await storage.list(`${folder}/results/`, 10)).map((object) => object.name);
    assert.deepEqual(
      names,
      ['0', '1', '5'].map((key) => `${folder}/results/${key}`),
    );
  });
}
