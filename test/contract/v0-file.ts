// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#version-0.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { postJson, send, sendTo } from './support/client.js';
import { expectError, expectLinks } from './support/judge.js';
import { freshKey, requestDownloadLinks, requestUploadLinks, store, uploadLink } from './support/storage.js';

for (const [name, base] of [
  ['v0', '/v0'],
  ['unversioned', ''],
] as const) {
  describe(`POST /file and GET /file (${name})`, () => {
    test('links work: the bytes come back, also by the links of v1', async () => {
      const key = freshKey();
      const link = await store(key, Buffer.from('content'), 'analysis', base);
      assert.equal((await sendTo(link, 'GET')).text, 'content');
      const [current] = expectLinks(await requestDownloadLinks(key));
      assert.equal((await sendTo(current?.value ?? '', 'GET')).text, 'content');
    });

    test('keys are 1 to 100, of 1 to 512 bytes, without a way up', async () => {
      const keys = (count: number) => Array.from({ length: count }, (_, i) => `${i}.wav`);
      for (const fine of [keys(1), keys(100), ['x'.repeat(512)]]) {
        const links = expectLinks(await requestUploadLinks(fine, 'analysis', { base }));
        assert.equal(links.length, fine.length);
      }
      for (const wrong of [
        keys(0),
        keys(101),
        [''],
        ['x'.repeat(513)],
        ['../a'],
        ['/a'],
        ['a\n'],
        'a',
        undefined,
      ]) {
        expectError(await requestUploadLinks(wrong, 'analysis', { base }), 400, /key/);
      }
    });

    test('entity is required and has a form', async () => {
      for (const entity of [null, '', 'Analysis', 'a/b', `a${'0'.repeat(32)}`]) {
        expectError(await requestUploadLinks(['a'], entity, { base }), 400, /entity/);
      }
      expectError(await postJson(`${base}/file`, { keys: ['a'] }), 400, /entity/);
      expectError(await requestDownloadLinks('a', 'Analysis', { base }), 400, /entity/);
      expectError(await send(`${base}/file?key_prefix=a`), 400, /entity/);
    });

    test('a prefix with no object gives an empty list', async () => {
      assert.deepEqual(expectLinks(await requestDownloadLinks(freshKey(), 'analysis', { base })), []);
    });

    test('an upload link takes 4 MB, and refuses one byte more with 400', async () => {
      const fine = await sendTo(
        await uploadLink(freshKey(), 'analysis', base),
        'PUT',
        {},
        Buffer.alloc(4_000_000),
      );
      assert.equal(fine.status, 200, fine.text);
      const key = freshKey();
      const over = await sendTo(await uploadLink(key, 'analysis', base), 'PUT', {}, Buffer.alloc(4_000_001));
      assert.equal(over.status, 400, over.text);
      assert.deepEqual(expectLinks(await requestDownloadLinks(key)), []);
    });

    test('an object over 4 MB, which v1 stored, is refused with 400', async () => {
      const key = freshKey();
      await store(key, Buffer.alloc(4_000_001));
      const answer = await requestDownloadLinks(key, 'analysis', { base });
      if (answer.status === 400) {
        expectError(answer, 400);
      } else {
        const [link] = expectLinks(answer);
        assert.equal((await sendTo(link?.value ?? '', 'GET')).status, 400);
      }
    });

    test('a body that is no JSON object is 400', async () => {
      for (const body of ['', '{', '[]']) expectError(await postJson(`${base}/file`, body), 400);
    });
  });
}
