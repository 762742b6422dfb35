// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#links.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectLinks } from './support/judge.js';
import { freshKey, requestDownloadLinks, requestUploadLinks, store } from './support/storage.js';

describe('Presigned link list', () => {
  for (const base of ['/v1', '/v0', '']) {
    test(`POST ${base}/file names each object as <entity>/<key>, with a signed link`, async () => {
      const keys = [freshKey(), freshKey()];
      const links = expectLinks(await requestUploadLinks(keys, 'analysis', { base }));
      assert.deepEqual(
        links.map(({ key }) => key),
        keys.map((key) => `analysis/${key}`),
      );
      for (const { value } of links) expectSigned(value);
      assert.notEqual(links[0]?.value, links[1]?.value);
    });

    test(`GET ${base}/file names each object as <entity>/<key>, with a signed link`, async () => {
      const key = freshKey();
      await store(key, Buffer.from('content'));
      const links = expectLinks(await requestDownloadLinks(key, 'analysis', { base }));
      assert.deepEqual(
        links.map((link) => link.key),
        [`analysis/${key}`],
      );
      for (const { value } of links) expectSigned(value);
    });
  }
});

/** The link has signing parameters in its query, and states its lifetime: at most 7 days. */
function expectSigned(link: string): void {
  const { searchParams } = new URL(link);
  assert.match(searchParams.get('X-Amz-Signature') ?? '', /^[0-9a-f]{64}$/, link);
  const lifetimeS = Number(searchParams.get('X-Amz-Expires'));
  assert.ok(lifetimeS > 0 && lifetimeS <= 7 * 86_400, link);
}
