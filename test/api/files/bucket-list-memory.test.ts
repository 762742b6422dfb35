// SPDX-License-Identifier: Apache-2.0
//
// Lists from a bucket take memory from the same budget as bodies.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { startFakeStorage } from '../../support/fake-storage.js';
import { getFile } from '../../support/file-links.js';
import { startTestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

const BUDGET_BYTES = 64 << 20;
const REQUESTS = 100;

test('a list that a client asks for a hundred times at once stays within the memory of clients', async (t) => {
  const padding = `<!--${'x'.repeat(4 << 20)}-->`;
  const open: ServerResponse[] = [];
  const bucket = await startFakeStorage(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.write(`<ListBucketResult><IsTruncated>false</IsTruncated>${padding}`);
    open.push(response);
  });
  const server = await startTestServer(t, {
    storageBucket: 'files',
    storageEndpoint: bucket.origin,
    maxInflightBytes: BUDGET_BYTES,
    maxInflightRequests: 2 * REQUESTS,
  });
  const memory = () => server.metric('veravox_client_memory_bytes');
  let refusals = 0;
  const asking = Array.from({ length: REQUESTS }, async () => {
    const answer = await getFile(server, '?key_prefix=a&entity=analysis');
    if (answer.status === 503) refusals++;
    return answer;
  });
  await until(() => open.length >= REQUESTS && refusals > REQUESTS / 2);
  const usedBytes = await memory();
  assert.ok(usedBytes > 0 && usedBytes <= BUDGET_BYTES, String(usedBytes));
  for (const response of open) response.end('</ListBucketResult>');
  const answers = await Promise.all(asking);
  const served = answers.filter(({ status }) => status === 200);
  assert.ok(served.length > 0);
  for (const { status, json } of answers) {
    if (status === 200) assert.deepEqual(json, { url: [] });
    else assert.deepEqual([status, json.error], [503, 'unavailable']);
  }
  assert.equal(served.length + refusals, REQUESTS);
  assert.equal(await memory(), 0);
});
