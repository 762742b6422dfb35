// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { KeyDirectory, type NewKey } from '../src/state/keys/key-directory.js';
import { KeyStore } from '../src/state/keys/key-store.js';
import { runCli, temporaryFolder } from './support/cli.js';
import { eventually } from './support/eventually.js';
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
    await eventually(async () => (await statusOf(key)) === wanted, `status ${wanted}`);
    return performance.now() - startedMs;
  }
  return { dataDir, create, statusOf, untilStatus };
}

/** What else runs on the machine can delay an answer, never speed it up: the best of three is the server's own time. */
async function assertWithinASecond(measure: () => Promise<number>): Promise<void> {
  const timesMs: number[] = [];
  while (timesMs.length < 3 && !timesMs.some((ms) => ms < 1000)) timesMs.push(await measure());
  assert.ok(Math.min(...timesMs) < 1000, `${timesMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
}

test('a revoked key is refused within a second, by a server that goes on running', async (t) => {
  const { dataDir, create, statusOf, untilStatus } = await start(t);
  const other = create();
  await assertWithinASecond(async () => {
    const { key, text } = create();
    await untilStatus(text, 200);
    assert.equal((await runCli(['keys', 'revoke', key.id], { VERAVOX_DATA_DIR: dataDir })).status, 0);
    // Measured from when the command has ended.
    return untilStatus(text, 401);
  });
  assert.equal(await statusOf(other.text), 200);
});

test('a new key is accepted within a second', async (t) => {
  const { create, untilStatus } = await start(t);
  await assertWithinASecond(() => untilStatus(create().text, 200));
});

test('a key is accepted until it expires, and refused from then on', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { create, statusOf, untilStatus } = await start(t);
  const expiresAt = new Date(Date.now() + 60_000);
  const { text } = create({ expiresAt });
  await untilStatus(text, 200);
  t.mock.timers.setTime(expiresAt.getTime() - 1);
  assert.equal(await statusOf(text), 200);
  t.mock.timers.setTime(expiresAt.getTime());
  assert.equal(await statusOf(text), 401);
});
