// SPDX-License-Identifier: Apache-2.0
//
// Usage over the admin API, in either database.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { AdminClient } from '../../client/src/index.js';
import type { AdminUsageRow } from '../../src/console/contract/usage.js';
import { usageRoutes } from '../../src/console/routes/usage-routes.js';
import { dayOf, daysBefore } from '../../src/state/data-folder/days.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { newKey } from '../../src/state/keys/api-key.js';
import { type KeyLabel, KeyTable } from '../../src/state/keys/key-table.js';
import { UsageMeter } from '../../src/state/records/usage-meter.js';
import { type DayUsage, type UsageRow, UsageTable } from '../../src/state/records/usage-table.js';
import { ADMIN, adminCaller, someone } from '../support/admin-caller.js';
import { type Connect, onEachDatabase } from '../support/databases.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { storeKeys } from '../support/stored-keys.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ADMIN_API_KEY } from '../support/test-server.js';

const TODAY = dayOf(new Date());

async function open(connect: Connect, maxRows?: number) {
  const database = connect();
  await migrate(database, migrations);
  const keyTable = new KeyTable(database);
  const usageTable = new UsageTable(database);
  const parts = { keyTable, usageTable, flushUsage: async () => {}, ...(maxRows && { maxRows }) };
  const call = adminCaller((guard) => usageRoutes(guard, parts));
  const rows = (query: string, who = ADMIN) => call(who, 'GET', `/v1/admin/usage${query}`);
  let batches = 0;
  const add = (day: string, ...counted: Partial<UsageRow>[]) =>
    usageTable.add({ id: `${day}.${batches++}`, day, rows: counted.map((row) => ({ ...nothing, ...row })) });
  return { keyTable, call, rows, add };
}

const nothing: UsageRow = {
  keyId: 'a00000000000',
  account: 'acme',
  route: '/v1/predict',
  requests: 0,
  errors: 0,
  audioS: 0,
  windows: 0,
  bytes: 0,
};

onEachDatabase('what no period or filter is, is refused; too much is, too', async (connect) => {
  const { rows, add } = await open(connect, 2);
  for (const [query, message] of [
    ['?from=2026-02-30', /from/],
    ['?to=2026-13-01', /to/],
    ['?from=tomorrow', /from/],
    ['?from=2026-11-02&to=2026-11-01', /2026-11-01 or an earlier day/],
    ['?key=..', /key/],
    ['?account=A', /account/],
    ['?by=day', /by/],
    ['?by=key&by=route', /by/],
  ] as const) {
    const answer = await rows(query);
    assert.equal(answer.status, 400, query);
    assert.match(answer.message, message);
  }
  for (const keyId of ['a', 'b', 'c']) await add('2026-11-01', { keyId, requests: 1 });
  const period = '?from=2026-11-01&to=2026-11-01';
  for (const by of ['key', 'route']) {
    const tooMany = await rows(`${period}&by=${by}`);
    assert.match(tooMany.message, /at most 2 rows/);
  }
  await add('2026-11-02', { keyId: 'a', requests: 1 }, { keyId: 'b', requests: 1 });
  assert.equal((await rows('?from=2026-11-02&to=2026-11-02')).json.rows.length, 2);
});

onEachDatabase('rows are by day and key, or by route; totals are their sums', async (connect) => {
  const { rows, add } = await open(connect);
  const [acme, other] = ['acme', 'other'].map(
    (account) => newKey({ name: `of ${account}`, account, scopes: ['predict'] }).key,
  );
  assert.ok(acme && other);
  await storeKeys(connect(), [acme, other]);
  const of = { keyId: acme.id, account: 'acme' };
  await add(
    '2026-11-01',
    { ...of, requests: 3, errors: 1, audioS: 10.0004, windows: 2, bytes: 1000 },
    { ...of, route: 'job', requests: 1, audioS: 0.5, windows: 1, bytes: 2 ** 40 },
    { keyId: other.id, account: 'other', requests: 7 },
  );
  await add('2026-11-03', { ...of, requests: 1 }, { keyId: 'f00000000000', account: 'acme', requests: 1 });
  const { json } = await rows('?from=2026-10-01&to=2026-11-30&account=acme');
  const named = {
    account: 'acme',
    key_id: acme.id,
    key_name: 'of acme',
    ends_with_session: false,
    route: null,
  };
  const first = { requests: 4, errors: 1, audio_s: 10.5, windows: 3, bytes: 1000 + 2 ** 40 };
  const one = { requests: 1, errors: 0, audio_s: 0, windows: 0, bytes: 0 };
  const unknown = {
    ...named,
    key_id: 'f00000000000',
    key_name: null,
    ends_with_session: true,
    day: '2026-11-03',
    ...one,
  };
  const known = { day: '2026-11-03', ...named, ...one };
  assert.deepEqual(json, {
    from: '2026-10-01',
    to: '2026-11-30',
    rows: [
      { day: '2026-11-01', ...named, ...first },
      ...(acme.id < 'f' ? [known, unknown] : [unknown, known]),
    ],
    totals: { ...first, requests: 6 },
  });
  const byRoute = (await rows(`?from=2026-11-01&to=2026-11-01&by=route&key=${acme.id}`)).json.rows;
  assert.deepEqual(
    byRoute.map(({ route, requests, audio_s }: { route: string; requests: number; audio_s: number }) => [
      route,
      requests,
      audio_s,
    ]),
    [
      ['/v1/predict', 3, 10],
      ['job', 1, 0.5],
    ],
  );
  assert.deepEqual((await rows('?from=2026-11-02&to=2026-11-02')).json.totals, { ...one, requests: 0 });
});

onEachDatabase('thirty days are shown by default, and developers see their account', async (connect) => {
  const { rows, add } = await open(connect);
  const first = daysBefore(TODAY, 29);
  await add(first, { requests: 1 });
  await add(daysBefore(TODAY, 30), { requests: 10 });
  await add(TODAY, { requests: 100 }, { account: 'other', requests: 1000 });
  const all = (await rows('')).json;
  assert.deepEqual([all.from, all.totals.requests], [first, 1101]);
  const own = (await rows('', someone('developer', 'acme'))).json;
  assert.deepEqual([own.totals.requests, own.rows.length], [101, 2]);
  assert.equal((await rows('?account=other', someone('viewer', 'acme'))).status, 400);
});

onEachDatabase('the table says the same, and no spreadsheet executes a name in it', async (connect) => {
  const { call, add, rows } = await open(connect);
  const names = [
    '=HYPERLINK("http://evil.example","click")',
    '+1',
    '-2+3',
    '@SUM(A1)',
    ' \t=1+1',
    '\r\n=2',
    '\uff1d1',
    'quoted "name", with; separators',
    'x";=1+1;"',
    'x;"=1+1;"',
    '"=1+1"',
    '\u00a0=1',
    '\ufeff@1',
    'plain',
    '',
  ];
  const keys = names.map((name) => newKey({ name, scopes: ['predict'] }).key);
  await storeKeys(connect(), keys);
  await add(
    '2026-11-01',
    ...keys.map(({ id }, i) => ({ keyId: id, requests: i + 1, audioS: i / 3, bytes: 1e15 })),
  );
  const query = '?from=2026-11-01&to=2026-11-01';
  const { reply } = await call(ADMIN, 'GET', `/v1/admin/usage.csv${query}`);
  const text = String(reply?.body);
  assert.equal(reply?.contentType, 'text/csv; charset=utf-8');
  assert.deepEqual(reply?.headers?.[0], [
    'content-disposition',
    'attachment; filename="veravox-usage-2026-11-01-2026-11-01.csv"',
  ]);
  const table = parse(text, { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
  const found = (await rows(query)).json.rows as Record<string, unknown>[];
  assert.equal(table.length, names.length);
  table.forEach((row, i) => {
    const { key_name, ...same } = row;
    const { key_name: name, ends_with_session, ...others } = found[i] ?? {};
    assert.equal(ends_with_session, false);
    assert.deepEqual(
      same,
      Object.fromEntries(Object.entries(others).map(([column, value]) => [column, String(value ?? '')])),
    );
    const disarmed = new Map([
      ['plain', 'plain'],
      ['', ''],
      ['quoted "name", with; separators', 'quoted "name", with; separators'],
      ['x";=1+1;"', `x";'=1+1;"`],
      ['x;"=1+1;"', `x;'"=1+1;"`],
    ]);
    assert.equal(key_name, disarmed.get(String(name)) ?? `'${String(name).replace(/[\t\r\n]/g, ' ')}`);
  });
  // Whatever a program takes for the separator or the end of a line, no cell begins like a formula.
  for (const cell of text.split(/[,;\t\r\n]+/)) assert.doesNotMatch(cell, /^[\s"]*[=+\-@\uff1d]/, cell);
});

onEachDatabase('rows are sorted by their bytes, in any language of the database', async (connect) => {
  const { rows, add } = await open(connect);
  const [first, last] = ['2026-11-01', '2026-11-02'];
  const accounts = ['a-z', 'a_b', 'aa', 'ab', 'a-a', 'a'];
  for (const day of [last, first]) {
    const counted = accounts.flatMap((account) =>
      ['f00000000000', 'a00000000000'].flatMap((keyId) =>
        ['job', '/v1/predict'].map((route) => ({ account, keyId, route, requests: 1 })),
      ),
    );
    await add(day, ...counted);
  }
  for (const [by, expected] of [
    ['key', 2 * 6 * 2],
    ['route', 2 * 6 * 2 * 2],
  ] as const) {
    const { json } = await rows(`?from=${first}&to=${last}&by=${by}`);
    const found: AdminUsageRow[] = json.rows;
    assert.equal(found.length, expected);
    const names = found.map(({ day, account, key_id, route }) =>
      [day, account, key_id, route ?? ''].join('\0'),
    );
    assert.deepEqual(names, names.toSorted());
  }
});

test('other requests have their turns while a large answer is written', async () => {
  const turns = 4;
  const many = Array.from({ length: turns * 1000 + 1 }, (_, i): DayUsage => {
    return { ...nothing, day: '2026-11-01', keyId: i.toString(16).padStart(12, '0'), requests: 1 };
  });
  const read = async () => many;
  const labelsOf = async () => new Map<string, KeyLabel>();
  const parts = { keyTable: { labelsOf }, usageTable: { read, readByKey: read }, flushUsage: async () => {} };
  const call = adminCaller((guard) => usageRoutes(guard, parts));
  for (const path of ['/v1/admin/usage', '/v1/admin/usage.csv']) {
    let others = 0;
    let isAnswered = false;
    const other = (): void => {
      others++;
      if (!isAnswered) setImmediate(other);
    };
    setImmediate(other);
    const { reply } = await call(ADMIN, 'GET', `${path}?from=2026-11-01&to=2026-11-01`);
    isAnswered = true;
    assert.ok(others >= turns, `${path}: ${others} turns`);
    const keys = String(reply?.body).match(/\b[0-9a-f]{12}\b/g) ?? [];
    assert.deepEqual(
      keys,
      many.map(({ keyId }) => keyId),
      path,
    );
  }
});

test('what this process has just counted is there', async (t) => {
  const database: { usageTable?: UsageTable } = {};
  const meter = new UsageMeter(
    { add: (batch) => database.usageTable?.add(batch) ?? Promise.reject(new Error('too early')) },
    temporaryFolder(t),
    // Never by itself.
    { flushMs: 2 ** 31 - 1 },
  );
  const server = await startJobServer(t, {}, { recorders: [meter] }, { flushUsage: () => meter.flush() });
  database.usageTable = new UsageTable(server.database);
  assert.equal((await predict(server.port, formBody([fileEntry(noise(1000))]))).status, 200);
  const admin = new AdminClient({ baseUrl: server.origin, apiKey: ADMIN_API_KEY });
  const usage = await admin.getUsage({ by: 'route' });
  const [row] = usage.rows;
  assert.deepEqual(
    [row?.day, row?.account, row?.key_id, row?.route, row?.requests, row?.audio_s],
    [TODAY, 'one', 'key-1', '/v1/predict', 1, 10],
  );
  assert.match(await admin.getUsageCsv({ by: 'route' }), /"\/v1\/predict",1,0,10,2,\d+\r\n$/);
});
