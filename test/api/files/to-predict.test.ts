// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { downloadLink, stored } from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { request } from '../../support/http-client.js';
import { storagesAndBetween } from '../../support/storages.js';
import { API_KEY } from '../../support/test-server.js';

for (const [name, start] of storagesAndBetween) {
  test(`${name}: a link to fetch a file is one that predict takes`, async (t) => {
    const { server } = await start(t);
    const file = noise(1_000_000);
    await stored(server, 'a.wav', file);
    for (const base of ['/v1', '/v0', ''] as const) {
      const link = await downloadLink(server, 'a.wav', { base });
      const answer = await request(server.port, `${base}/predict`, {
        method: 'POST',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ presigned_url: link })),
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(server.analyser.hashes.at(-1), createHash('sha256').update(file).digest('hex'));
    }
  });
}
