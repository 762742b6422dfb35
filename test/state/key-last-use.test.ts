// SPDX-License-Identifier: Apache-2.0
//
// A key in use is never listed as unused, whatever its use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient } from '../../client/src/index.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';

const uses: readonly (readonly [string, (origin: string, key: string) => Promise<unknown>])[] = [
  ['the admin API', (origin, key) => new AdminClient({ baseUrl: origin, apiKey: key }).listUsers()],
  [
    'a refused request',
    (origin, key) => fetch(`${origin}/v1/predict`, { method: 'POST', headers: { 'x-api-key': key } }),
  ],
  ['a detailed health check', (origin, key) => fetch(`${origin}/readyz`, { headers: { 'x-api-key': key } })],
];

test('every use of a key counts as one', async (t) => {
  const server = await startDashboardServer(t);
  const keyTable = new KeyTable(server.database);
  const ofOperator = await keyTable.create({ name: 'reader', account: 'acme', scopes: ['admin'] });
  const admin = new AdminClient({ baseUrl: server.origin, apiKey: ofOperator.text });
  const lastDayOf = async (id: string) =>
    (await admin.listKeys()).keys.find((key) => key.id === id)?.last_used_day;
  for (const [name, use] of uses) {
    await t.test(name, async () => {
      const { key, text } = await keyTable.create({ name, account: 'acme', scopes: ['admin'] });
      await eventually(async () => (await lastDayOf(key.id)) === null, 'the key is known and unused');
      await use(server.origin, text);
      await eventually(async () => (await lastDayOf(key.id)) !== null, 'its use is noted');
    });
  }
  await t.test('and only what is metered is usage', async () => {
    const { rows } = await admin.getUsage();
    assert.deepEqual(
      rows.map(({ key_name, requests }) => [key_name, requests]),
      [['a refused request', 1]],
    );
  });
});
