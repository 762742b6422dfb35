// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withDatabase } from '../../src/state/database/open-database.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { createKey, sqliteIn } from '../support/stored-keys.js';

for (const args of [
  ['--from', 'last week'],
  ['--to', '2026-02-31'],
  ['--to', '2026-13-01'],
  ['--from', '2026-1-1'],
]) {
  test(`veravox usage ${args.join(' ')} is a usage error`, async (context) => {
    const { status, stdout, stderr } = await runCli(['usage', ...args], {
      VERAVOX_DATA_DIR: temporaryFolder(context),
    });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      new RegExp(`a UTC day \\(2026-11-01, today, .*30d for 30 days ago\\) but received ${args[1]}`),
    );
  });
}

test('a period that ends before it starts is a usage error', async (context) => {
  const { status, stderr } = await runCli(['usage', '--from', '2026-11-02', '--to', '2026-11-01'], {
    VERAVOX_DATA_DIR: temporaryFolder(context),
  });
  assert.equal(status, 2);
  assert.match(stderr, /Expected 2026-11-01 or an earlier day for --from but received 2026-11-02\./);
});

test('usage is a table with names and a sum, or lines of JSON, of the keys and days that were asked for', async (context) => {
  const dataDir = temporaryFolder(context);
  const env = { VERAVOX_DATA_DIR: dataDir };
  assert.equal((await runCli(['usage'], env)).stdout, 'No usage.\n');
  assert.equal((await runCli(['usage', '--json'], env)).stdout, '');
  const { id } = (await createKey(dataDir, { name: 'nightly', account: 'acme', scopes: [] })).key;
  const row = { keyId: id, account: 'acme', route: '/v1/predict' };
  const counts = { requests: 1000, errors: 1, audioS: 5000.5, windows: 999, bytes: 5_000_000 };
  const gone = { keyId: '0123456789ab', account: 'default', route: '/v0/predict' };
  await withDatabase(sqliteIn(dataDir), async (database) => {
    const usageTable = new UsageTable(database);
    await usageTable.add({ id: 'a', day: '2026-11-20', rows: [{ ...row, ...counts }] });
    await usageTable.add({ id: 'b', day: '2026-11-20', rows: [{ ...row, ...counts }] });
    await usageTable.add({ id: 'c', day: '2026-11-21', rows: [{ ...gone, ...counts, requests: 7 }] });
  });
  assert.equal(
    (await runCli(['usage'], env)).stdout,
    [
      'day         account  key           name     route        requests  errors  audio s  windows     bytes',
      `2026-11-20  acme     ${id}  nightly  /v1/predict      2000       2  10001.0     1998  10000000`,
      '2026-11-21  default  0123456789ab  -        /v0/predict         7       1   5000.5      999   5000000',
      'total                                                        2007       3  15001.5     2997  15000000',
      '',
    ].join('\n'),
  );
  const rest = { errors: 2, audio_s: 10001, windows: 1998, bytes: 10_000_000 };
  const filtered = [
    ['--key', id],
    ['--account', 'acme'],
    ['--to', '2026-11-20'],
    ['--from', '2026-11-20', '--key', id],
  ];
  for (const filter of filtered) {
    const { stdout } = await runCli(['usage', '--json', ...filter], env);
    assert.deepEqual(JSON.parse(stdout), {
      day: '2026-11-20',
      account: 'acme',
      key_id: id,
      route: '/v1/predict',
      requests: 2000,
      ...rest,
    });
  }
});

test('what a server did is in its usage and in its audit file after it has stopped', async (context) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(context), PORT: '0' };
  const cli = new Cli(['serve'], env);
  context.after(() => cli.child.kill('SIGKILL'));
  const [, port] = await cli.printed(/is ready on \S+:(\d+)\n/);
  const [key = ''] = await cli.printed(/vx_\w{12}_[\w-]{43}/);
  const form = formBody([fileEntry(fs.readFileSync('test/fixtures/human-lj-a.mp3'))]);
  const good = await predict(Number(port), form, { headers: { 'x-api-key': key } });
  assert.equal(good.status, 200, good.text);
  assert.equal((await predict(Number(port), form, { headers: { 'x-api-key': `${key}x` } })).status, 401);
  cli.child.kill('SIGTERM');
  assert.equal((await cli.finished).status, 0);

  const [row, ...others] = (await runCli(['usage', '--json'], env)).stdout.trimEnd().split('\n');
  assert.deepEqual(others, []);
  const { day, audio_s, windows, ...usage } = JSON.parse(row ?? '');
  const seconds: number = good.json.audio_duration;
  assert.ok(Math.abs(audio_s - seconds) < 0.001);
  assert.equal(windows, good.json.segments.length);
  assert.deepEqual(usage, {
    account: 'default',
    key_id: key.slice(3, 15),
    route: '/v1/predict',
    requests: 1,
    errors: 0,
    bytes: form.length,
  });
  const audit = fs.readFileSync(path.join(env.VERAVOX_DATA_DIR, 'audit', `${day}.jsonl`), 'utf8');
  const lines = audit
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ event, status }) => event ?? status);
  assert.deepEqual(lines, ['chain_started', 'server_started', 'key_created', 200, 401, 'server_stopping']);
});
