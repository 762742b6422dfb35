// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { DeliveryTable } from '../../src/jobs/queue/delivery-table.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { type Finished, runCli, temporaryFolder } from '../support/cli.js';

function commandsIn(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const command = (...args: string[]): Promise<Finished> =>
    runCli(['webhooks', ...args], { VERAVOX_DATA_DIR: dataDir });
  return { dataDir, command };
}

const auditIn = (dataDir: string): string =>
  fs
    .readdirSync(path.join(dataDir, 'audit'))
    .map((file) => fs.readFileSync(path.join(dataDir, 'audit', file), 'utf8'))
    .join('');

test('a secret is shown once, replaced with an overlap, listed without its text, and audited', async (t) => {
  const { dataDir, command } = commandsIn(t);
  assert.equal((await command('revoke-secret', 'whs_0')).status, 1);
  assert.equal((await command('create-secret', '--overlap', '3 days')).status, 2);
  assert.equal((await command('create-secret', '--account', 'Not One')).status, 2);
  assert.match((await command('secrets')).stdout, /^No secrets\.$/m);
  const first = await command('create-secret', '--account', 'shop');
  assert.match(first.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
  const second = await command('create-secret', '--account', 'shop', '--overlap', '7d');
  const listed = (await command('secrets', '--json')).stdout;
  const secrets = listed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    secrets.map(({ account, ends_at }) => [account, ends_at !== null]),
    [
      ['shop', true],
      ['shop', false],
    ],
  );
  const days = (Date.parse(secrets[0].ends_at) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, `${days} days`);
  assert.match((await command('secrets')).stdout, /signs until\n/);
  assert.equal((await command('revoke-secret', secrets[0].id)).status, 0);
  const audit = auditIn(dataDir);
  for (const event of ['webhook_secret_created', 'webhook_secret_revoked'])
    assert.match(audit, new RegExp(event));
  for (const { stdout } of [first, second]) {
    const text = stdout.trimEnd();
    assert.ok(!audit.includes(text) && !listed.includes(text), 'never shown again');
  }
});

test('deliveries are listed with what came of them, and sent again', async (t) => {
  const { dataDir, command } = commandsIn(t);
  assert.match((await command('deliveries')).stdout, /^No deliveries\.$/m);
  const database = new SqliteDatabase(path.join(dataDir, 'veravox.db'));
  t.after(() => database.close());
  const jobs = new JobTable(database, { maxUnfinished: 0 });
  const workTable = new DeliveryWorkTable(database);
  const { job } = await jobs.create({
    account: 'shop',
    keyId: 'k',
    task: 'predict',
    source: '{}',
    parameters: '{}',
    callbackUrl: 'https://hooks.example/end?token=secret',
  });
  await jobs.cancel('shop', job.id);
  assert.equal((await command('replay', job.id)).status, 1, 'it still waits');
  const turn = (await workTable.take()) ?? assert.fail('it is due');
  await workTable.fail(
    turn,
    { atMs: Date.now(), tookMs: 5, status: 410, problem: 'status 410' },
    { isFinal: true },
  );
  const { stdout } = await command('deliveries', '--state', 'failed', '--account', 'shop');
  assert.match(stdout, new RegExp(`${job.id} .* failed .* status 410 .* https://hooks.example/end$`, 'm'));
  const { stdout: json } = await command('deliveries', '--job', job.id, '--json');
  const { id, state, attempts } = JSON.parse(json);
  assert.deepEqual([id, state, attempts[0].status], [turn.delivery.id, 'failed', 410]);
  assert.ok(!stdout.includes('token') && !json.includes('token'));
  assert.match((await command('deliveries', '--account', 'other')).stdout, /^No deliveries\.$/m);
  for (const args of [[], ['x', '--failed']]) assert.equal((await command('replay', ...args)).status, 2);
  assert.equal((await command('replay', 'x')).status, 1);
  const audit = path.join(dataDir, 'audit');
  fs.writeFileSync(audit, 'in the way');
  assert.equal((await command('replay', id)).status, 1, 'nothing without a line in the audit');
  assert.equal(await workTable.take(), undefined);
  fs.rmSync(audit);
  assert.match((await command('replay', '--failed')).stderr, /^1 to be sent again/m);
  assert.equal((await workTable.take())?.delivery.id, turn.delivery.id);
  assert.match(auditIn(dataDir), new RegExp(`webhook_replayed.*"deliveryId":"${id}","account":"shop"`));
});

test('all failed deliveries are sent again, however many there are', async (t) => {
  const { dataDir, command } = commandsIn(t);
  await command('deliveries');
  const database = new SqliteDatabase(path.join(dataDir, 'veravox.db'));
  t.after(() => database.close());
  // Without their jobs.
  await database.query('PRAGMA foreign_keys = OFF');
  await database.query(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
     INSERT INTO webhook_deliveries (id, job_id, account, url, state, created_at_ms)
     SELECT 'd' || i, 'j' || i, 'shop', 'https://hooks.example', 'failed', i FROM n`,
  );
  const ids = await new DeliveryTable(database).failedIds();
  assert.deepEqual([ids.length, ids[0]], [10_100, 'd1']);
});
