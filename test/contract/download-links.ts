// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#download.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { send, sendTo } from './support/client.js';
import { expectError, expectLinks } from './support/judge.js';
import { freshKey, requestDownloadLinks, requestUploadLinks, store } from './support/storage.js';
import { skipUnlessOwn, target } from './support/target.js';

const keysUnder = async (prefix: string, entity = 'analysis', key = target.key): Promise<string[]> =>
  expectLinks(await requestDownloadLinks(prefix, entity, { key })).map((link) => link.key);

const skipWithoutAnotherAccount =
  target.keyOfAnotherAccount === undefined && 'needs VERAVOX_CONTRACT_KEY_OF_ANOTHER_ACCOUNT';

describe('GET /file (v1)', () => {
  test('a prefix with no object gives an empty list', async () => {
    assert.deepEqual(await keysUnder(freshKey()), []);
  });

  test('a link was asked for but nothing was stored: nothing is listed', async () => {
    const key = freshKey();
    expectLinks(await requestUploadLinks([key]));
    assert.deepEqual(await keysUnder(key), []);
  });

  test('lists what begins with the prefix, and nothing else', async () => {
    const folder = randomUUID();
    for (const name of ['a.wav', 'a.wav.json', 'ab/c.wav', 'b.wav']) {
      await store(`${folder}/${name}`, Buffer.from(name));
    }
    const under = async (prefix: string) => (await keysUnder(`${folder}/${prefix}`)).sort();
    const named = (...names: string[]) => names.map((name) => `analysis/${folder}/${name}`);
    assert.deepEqual(await under(''), named('a.wav', 'a.wav.json', 'ab/c.wav', 'b.wav'));
    assert.deepEqual(await under('a'), named('a.wav', 'a.wav.json', 'ab/c.wav'));
    assert.deepEqual(await under('a.wav'), named('a.wav', 'a.wav.json'));
    assert.deepEqual(await under('ab/'), named('ab/c.wav'));
    assert.deepEqual(await under('A'), []);
    assert.deepEqual(await under('*'), []);
  });

  test('lists objects of the entity only', async () => {
    const key = freshKey();
    await store(key, Buffer.from('of results'), 'results');
    assert.deepEqual(await keysUnder(key, 'analysis'), []);
    assert.deepEqual(await keysUnder(key, 'results'), [`results/${key}`]);
  });

  test('the links give the bytes', async () => {
    const folder = randomUUID();
    await store(`${folder}/1`, Buffer.from('one'));
    await store(`${folder}/2`, Buffer.from('two'));
    const links = expectLinks(await requestDownloadLinks(`${folder}/`));
    const contents = await Promise.all(links.map(async ({ value }) => (await sendTo(value, 'GET')).text));
    assert.deepEqual(contents.sort(), ['one', 'two']);
  });

  test('a part of an object can be had', async () => {
    const link = await store(freshKey(), Buffer.from('0123456789'));
    const { status, headers, text } = await sendTo(link, 'GET', { range: 'bytes=2-5' });
    assert.equal(status, 206);
    assert.equal(headers['content-range'], 'bytes 2-5/10');
    assert.equal(text, '2345');
  });

  test('at most 1,000 links', { skip: skipUnlessOwn }, async () => {
    const folder = randomUUID();
    const put = async (count: number, first: number) => {
      const keys = Array.from({ length: count }, (_, i) => `${folder}/${first + i}`);
      const links = expectLinks(await requestUploadLinks(keys));
      const puts = await Promise.all(links.map(({ value }) => sendTo(value, 'PUT', {}, Buffer.from('x'))));
      assert.deepEqual(new Set(puts.map(({ status }) => status)), new Set([200]));
    };
    for (let first = 0; first < 1000; first += 100) await put(100, first);
    assert.equal((await keysUnder(folder)).length, 1000);
    await put(1, 1000);
    assert.equal((await keysUnder(folder)).length, 1000);
  });

  for (const entity of ['', 'Analysis', '..', 'a/b', `a${'0'.repeat(32)}`]) {
    test(`entity may not be ${JSON.stringify(entity)}`, async () => {
      expectError(await requestDownloadLinks('recording', entity), 400, /entity/);
    });
  }
  test('entity may not be missing', async () => {
    expectError(await send('/v1/file?key_prefix=recording'), 400, /entity/);
  });

  test('a prefix does not lead out of the entity', async () => {
    const key = freshKey();
    await store(key, Buffer.from('x'), 'results');
    for (const prefix of [`../results/${key}`, '..', '../', '/', './', '%2e%2e/']) {
      const answer = await requestDownloadLinks(prefix);
      if (answer.status === 400) expectError(answer, 400);
      else assert.deepEqual(expectLinks(answer), []);
    }
  });

  test("another account's objects are neither listed nor replaced", {
    skip: skipWithoutAnotherAccount,
  }, async () => {
    const other = target.keyOfAnotherAccount ?? '';
    const key = freshKey();
    const mine = await store(key, Buffer.from('mine'));
    assert.deepEqual(await keysUnder(key, 'analysis', other), []);
    const [link] = expectLinks(await requestUploadLinks([key], 'analysis', { key: other }));
    assert.ok(link);
    assert.equal((await sendTo(link.value, 'PUT', {}, Buffer.from('theirs'))).status, 200);
    assert.equal((await sendTo(mine, 'GET')).text, 'mine');
    assert.deepEqual(await keysUnder(key), [`analysis/${key}`]);
    assert.deepEqual(await keysUnder(key, 'analysis', other), [`analysis/${key}`]);
  });
});
