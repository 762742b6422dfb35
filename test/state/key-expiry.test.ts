// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../src/state/database/open-database.js';
import type { NewKey } from '../../src/state/keys/api-key.js';
import { KeyCache } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { sqliteIn } from '../support/stored-keys.js';
import { startTestServer } from '../support/test-server.js';
import { undisturbedTime } from '../support/undisturbed.js';

const body = formBody([fileEntry('x')]);

/** A server with keys on disk, followed as `veravox serve` follows them. */
async function start(context: TestContext) {
  const dataDir = temporaryFolder(context);
  const database = await openDatabase(sqliteIn(dataDir));
  const keyTable = new KeyTable(database);
  const keys = await KeyCache.open(keyTable);
  context.after(async () => {
    keys.close();
    await database.close();
  });
  const { port } = await startTestServer(context, {}, { keys });
  const create = (wanted: Partial<NewKey> = {}) =>
    keyTable.create({ name: 'test', scopes: ['predict'], ...wanted });
  const statusOf = async (key: string): Promise<number> =>
    (await predict(port, body, { headers: { 'x-api-key': key } })).status;
  /** Asks until the status is `wanted`; returns the time that this took by itself. */
  async function untilStatus(key: string, wanted: number): Promise<number> {
    const took = undisturbedTime();
    await eventually(async () => (await statusOf(key)) === wanted, `status ${wanted}`);
    return took();
  }
  return { dataDir, create, statusOf, untilStatus };
}

/** Other work on the machine can delay an answer, never speed it up: the best of three is the server's own time. */
async function assertWithinASecond(measure: () => Promise<number>): Promise<void> {
  const timesMs: number[] = [];
  while (timesMs.length < 3 && !timesMs.some((ms) => ms < 1000)) timesMs.push(await measure());
  assert.ok(Math.min(...timesMs) < 1000, `${timesMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
}

test('a revoked key is refused within a second, by a server that goes on running', async (t) => {
  const { dataDir, create, statusOf, untilStatus } = await start(t);
  const other = await create();
  await assertWithinASecond(async () => {
    const { key, text } = await create();
    await untilStatus(text, 200);
    assert.equal((await runCli(['keys', 'revoke', key.id], { VERAVOX_DATA_DIR: dataDir })).status, 0);
    // Measured from the end of the command.
    return untilStatus(text, 401);
  });
  assert.equal(await statusOf(other.text), 200);
});

test('a new key is accepted within a second', async (t) => {
  const { create, untilStatus } = await start(t);
  await assertWithinASecond(async () => untilStatus((await create()).text, 200));
});

test('a key is accepted until it expires, and refused from then on', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { create, statusOf, untilStatus } = await start(t);
  const expiresAt = new Date(Date.now() + 60_000);
  const { text } = await create({ expiresAt });
  await untilStatus(text, 200);
  t.mock.timers.setTime(expiresAt.getTime() - 1);
  assert.equal(await statusOf(text), 200);
  t.mock.timers.setTime(expiresAt.getTime());
  assert.equal(await statusOf(text), 401);
});
