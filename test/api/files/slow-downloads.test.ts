// SPDX-License-Identifier: Apache-2.0
//
// A link has any number of readers, and each may be slow: they must leave transfers for the account's other
// files.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Holder, SharedBudget } from '../../../src/api/admission/shared-budget.js';
import { eventually } from '../../support/eventually.js';
import { downloadLink, follow, s3Code, uploadLink } from '../../support/file-links.js';
import { RawClient } from '../../support/http-client.js';
import { OTHER_API_KEY, startTestServer, type TestServer } from '../../support/test-server.js';

/** More than the buffers between both ends hold. */
const FILE_BYTES = 16 << 20;
const file = Buffer.alloc(FILE_BYTES, 1);

/** Reads its answer up to the first bytes. */
async function slowGet(link: string, t: TestContext): Promise<RawClient> {
  const { port, host, pathname, search } = new URL(link);
  const client = await RawClient.connect(Number(port));
  t.after(() => client.socket.destroy());
  client.socket.once('data', () => client.socket.pause());
  await client.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  await eventually(async () => client.received !== '', 'an answer begins');
  return client;
}

async function stored(server: TestServer, name: string, apiKey?: string): Promise<string> {
  const options = apiKey === undefined ? {} : { apiKey };
  const upload = await follow(await uploadLink(server, name, options), { method: 'PUT', body: file });
  assert.equal(upload.status, 200);
  return downloadLink(server, name, options);
}

test('slow readers of one link leave transfers to other files of their account, and to other accounts', async (t) => {
  const server = await startTestServer(t, { maxTransfers: 16, keySharePercent: 50 });
  const [link, othersFile, othersAccount] = [
    await stored(server, 'slow'),
    await stored(server, 'other'),
    await stored(server, 'far', OTHER_API_KEY),
  ];
  for (let i = 0; i < 4; i++) assert.match((await slowGet(link, t)).received, /^HTTP\/1\.1 200 /);
  assert.equal(await server.metric('veravox_transfers_in_flight'), 4);
  const refused = await follow(link);
  assert.equal(refused.status, 503);
  assert.equal(s3Code(refused), 'SlowDown');
  assert.match(refused.text, /4 transfers of one file/);
  assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
  for (const another of [othersFile, othersAccount]) {
    const answer = await follow(another);
    assert.equal(answer.status, 200);
    assert.equal(Number(answer.headers['content-length']), FILE_BYTES);
  }
  assert.match((await slowGet(othersFile, t)).received, /^HTTP\/1\.1 200 /);
  assert.equal(
    (await follow(await uploadLink(server, 'new'), { method: 'PUT', body: Buffer.from('x') })).status,
    200,
  );
});

test('readers of one file that leave make room for its next ones', async (t) => {
  const server = await startTestServer(t, { maxTransfers: 16, keySharePercent: 50 });
  const link = await stored(server, 'slow');
  const readers = [];
  for (let i = 0; i < 4; i++) readers.push(await slowGet(link, t));
  assert.equal((await follow(link)).status, 503);
  for (const { socket } of readers) socket.destroy();
  await eventually(async () => (await follow(link)).status === 200, 'a reader is admitted');
});

test('each file of an account gets its share of what the others leave', () => {
  const budget = new SharedBudget(64, { account: 50, file: 50 });
  const takeAll = (holder: Holder): number => {
    let taken = 0;
    for (; budget.obstacle(holder, 1) === undefined; taken++) budget.take(holder, 1);
    return taken;
  };
  assert.equal(takeAll({ account: 'a', file: '1' }), 16);
  assert.deepEqual(budget.obstacle({ account: 'a', file: '1' }, 1), { kind: 'file', held: 16 });
  assert.equal(takeAll({ account: 'a', file: '2' }), 8);
  assert.equal(takeAll({ account: 'b', file: '3' }), 10);
  // Uploads have no file: they get the rest of the account's share.
  assert.equal(takeAll({ account: 'a' }), 3);
  assert.equal(budget.obstacle({ account: 'a', file: '2' }, 1)?.kind, 'account');
});
