// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { KeyDirectory, type NewKey } from '../src/keys/key-directory.js';
import { KeyStore } from '../src/keys/key-store.js';
import { runCli, temporaryFolder } from './support/cli.js';
import { fileEntry, formBody } from './support/form-body.js';
import { predict } from './support/http-client.js';
import { startTestServer } from './support/test-server.js';

const body = formBody([fileEntry('x')]);

/** A server with keys on disk, followed as `veravox serve` follows them. */
async function start(context: TestContext) {
  const dataDir = temporaryFolder(context);
  const keys = new KeyStore(dataDir);
  context.after(() => keys.close());
  const { port } = await startTestServer(context, {}, { keys });
  const directory = new KeyDirectory(dataDir);
  const create = (wanted: Partial<NewKey> = {}) =>
    directory.create({ name: 'test', scopes: ['predict'], ...wanted });
  const statusOf = async (key: string): Promise<number> =>
    (await predict(port, body, { headers: { 'x-api-key': key } })).status;
  /** Asks until the status is `wanted`; returns how long that took. */
  async function untilStatus(key: string, wanted: number): Promise<number> {
    const startedMs = performance.now();
    for (;;) {
      const status = await statusOf(key);
      const elapsedMs = performance.now() - startedMs;
      if (status === wanted) return elapsedMs;
      assert.ok(elapsedMs < 5000, `${status} instead of ${wanted} after ${elapsedMs} ms`);
    }
  }
  return { dataDir, create, statusOf, untilStatus };
}

test('a revoked key is refused within a second, by a server that goes on running', async (t) => {
  const { dataDir, create, untilStatus } = await start(t);
  const { key, text } = create();
  const other = create();
  await untilStatus(text, 200);
  assert.equal((await runCli(['keys', 'revoke', key.id], { VERAVOX_DATA_DIR: dataDir })).status, 0);
  // Measured from when the command has ended.
  const elapsedMs = await untilStatus(text, 401);
  assert.ok(elapsedMs < 1000, `${elapsedMs} ms`);
  assert.equal((await untilStatus(other.text, 200)) < 1000, true);
});

test('a new key is accepted within a second', async (t) => {
  const { create, untilStatus } = await start(t);
  const elapsedMs = await untilStatus(create().text, 200);
  assert.ok(elapsedMs < 1000, `${elapsedMs} ms`);
});

test('a key is accepted until it expires, and refused from then on', async (t) => {
  const { create, statusOf, untilStatus } = await start(t);
  const expiresAt = new Date(Date.now() + 2000);
  const { text } = create({ expiresAt });
  await untilStatus(text, 200);
  let status = 200;
  while (status === 200) {
    const sentAt = Date.now();
    status = await statusOf(text);
    const answeredAt = Date.now();
    if (status === 200) assert.ok(sentAt < expiresAt.getTime() && answeredAt < expiresAt.getTime() + 1000);
    else assert.ok(answeredAt >= expiresAt.getTime());
  }
  assert.equal(status, 401);
});
