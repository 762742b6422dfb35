// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { DatabaseError } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { ROWS_AT_ONCE } from '../../src/state/database/pieces.js';
import { addUnsentUsage } from '../../src/state/records/unsent-usage.js';
import { UsageMeter, type UsageMeterOptions } from '../../src/state/records/usage-meter.js';
import { type UsageBatch, UsageTable } from '../../src/state/records/usage-table.js';
import { countedDatabase } from '../support/counted-database.js';
import { type Connect, onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { keysOf, withKey } from '../support/keys.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startTestServer } from '../support/test-server.js';

const someRecord: RequestRecord = {
  correlationId: '',
  method: 'POST',
  route: '/v1/predict',
  status: 200,
  keyId: 'key-1',
  account: 'one',
  bodyBytes: 1000,
  audioS: 2.5,
  scoredWindows: 1,
  stagesMs: {},
  totalMs: 1,
};

async function usageTableOn(connect: Connect): Promise<UsageTable> {
  const database = connect();
  await migrate(database, migrations);
  return new UsageTable(database);
}

function createMeter(
  context: TestContext,
  usageTable: Pick<UsageTable, 'add'>,
  options: Partial<UsageMeterOptions> & { dataDir?: string } = {},
) {
  const clock = { now: new Date('2026-11-21T12:00:00Z') };
  const errors: unknown[] = [];
  const dataDir = options.dataDir ?? temporaryFolder(context);
  const meter = new UsageMeter(usageTable, dataDir, {
    flushMs: 3_600_000,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...options,
  });
  context.after(() => meter.close());
  return { meter, clock, errors, dataDir };
}

const requestsIn = async (usageTable: UsageTable): Promise<number[]> =>
  (await usageTable.read()).map(({ requests }) => requests);

const filesIn = (dataDir: string, folder: string): string[] => {
  const dir = path.join(dataDir, folder);
  return fs.existsSync(dir) ? fs.readdirSync(dir).sort() : [];
};

/** A database that refuses or loses its answers on command. */
class Unreliable {
  readonly #usageTable: UsageTable;
  does: 'work' | 'refuse' | 'forget the answer' = 'work';

  constructor(usageTable: UsageTable) {
    this.#usageTable = usageTable;
  }

  async add(batch: UsageBatch): Promise<boolean> {
    const isAdded = this.does === 'refuse' ? false : await this.#usageTable.add(batch);
    if (this.does === 'work') return isAdded;
    throw new DatabaseError('unavailable', 'CONNECTION', 'cut');
  }
}

test('a damaged file is an error that names it, not usage that is missing', async (t) => {
  const dataDir = temporaryFolder(t);
  const good = JSON.stringify({ version: 1, rows: [row] });
  const file = path.join(dataDir, 'unsent-usage/2026-11-21.x.json');
  fs.mkdirSync(path.dirname(file));
  for (const bad of ['', good.slice(0, 20), '[]', '{"rows":[{}]}', good.replace('1000', '"1000"')]) {
    fs.writeFileSync(file, bad);
    const damaged: unknown[] = [];
    const usageTable = new UsageTable(undefined as never);
    await addUnsentUsage(dataDir, usageTable, (error) => damaged.push(error));
    assert.match(String(damaged), /^Error: The usage file .*\/2026-11-21\.x\.json is damaged: /, bad);
    assert.equal(fs.readFileSync(file, 'utf8'), bad);
  }
});

const row = {
  keyId: 'key-1',
  account: 'one',
  route: '/v1/predict',
  requests: 7,
  errors: 1,
  audioS: 0.1,
  windows: 3,
  bytes: 1000,
};

onEachDatabase(
  'counts that the database does not take are in a file until it does, with one report',
  async (connect, t) => {
    const usageTable = await usageTableOn(connect);
    const unreliable = new Unreliable(usageTable);
    const { meter, clock, errors, dataDir } = createMeter(t, unreliable);
    unreliable.does = 'refuse';
    meter.record(someRecord);
    await meter.flush();
    clock.now = new Date('2026-11-22T12:00:00Z');
    for (let i = 0; i < 3; i++) {
      meter.record(someRecord);
      await meter.flush();
    }
    assert.equal(errors.length, 1);
    assert.equal(filesIn(dataDir, 'unsent-usage').length, 2);
    unreliable.does = 'work';
    await meter.flush();
    assert.deepEqual(filesIn(dataDir, 'unsent-usage'), []);
    assert.deepEqual(await requestsIn(usageTable), [1, 3]);
    assert.equal(errors.length, 1);
  },
);

onEachDatabase('counts whose answer was lost are there once', async (connect, t) => {
  const usageTable = await usageTableOn(connect);
  const unreliable = new Unreliable(usageTable);
  const { meter } = createMeter(t, unreliable);
  for (const does of ['forget the answer', 'work', 'forget the answer', 'refuse', 'work'] as const) {
    unreliable.does = does;
    meter.record(someRecord);
    await meter.flush();
  }
  assert.deepEqual(await requestsIn(usageTable), [5]);
});

onEachDatabase(
  'a process that ends without its database loses nothing: the next one adds the files, once',
  async (connect, t) => {
    const usageTable = await usageTableOn(connect);
    const unreliable = new Unreliable(usageTable);
    const first = createMeter(t, unreliable);
    unreliable.does = 'forget the answer';
    first.meter.record(someRecord);
    await first.meter.flush();
    first.meter.record(someRecord);
    await first.meter.close();
    assert.deepEqual(await requestsIn(usageTable), [1]);
    for (let start = 0; start < 2; start++) {
      await addUnsentUsage(first.dataDir, usageTable, (error) => assert.fail(String(error)));
    }
    assert.deepEqual(filesIn(first.dataDir, 'unsent-usage'), []);
    assert.deepEqual(await requestsIn(usageTable), [2]);
    unreliable.does = 'work';
  },
);

test('a stop during an attempt that never ends has the counts in files', async (t) => {
  let answer = (_isAdded: boolean): void => {};
  const answered = new Promise<boolean>((resolve) => {
    answer = resolve;
  });
  const { meter, dataDir } = createMeter(t, { add: () => answered });
  meter.record(someRecord);
  void meter.flush();
  await turn();
  meter.record(someRecord);
  const closed = meter.close();
  await eventually(() => filesIn(dataDir, 'unsent-usage').length === 2, 'both are in files');
  answer(true);
  await closed;
  assert.deepEqual(filesIn(dataDir, 'unsent-usage'), []);
});

onEachDatabase('several processes add up', async (connect, t) => {
  const usageTable = await usageTableOn(connect);
  const meters = [1, 2, 3].map(() => createMeter(t, new UsageTable(connect())));
  for (let round = 0; round < 10; round++) {
    for (const { meter } of meters) {
      for (const keyId of ['key-1', 'key-2']) meter.record({ ...someRecord, keyId });
    }
    await Promise.all(meters.map(({ meter }) => meter.flush()));
  }
  assert.deepEqual(await requestsIn(usageTable), [30, 30]);
  for (const { errors } of meters) assert.deepEqual(errors, []);
});

onEachDatabase('what is counted while counts are being added is in the next', async (connect, t) => {
  const usageTable = await usageTableOn(connect);
  const { meter } = createMeter(t, usageTable);
  meter.record(someRecord);
  const adding = meter.flush();
  await Promise.resolve();
  meter.record(someRecord);
  await adding;
  await meter.flush();
  assert.deepEqual(await requestsIn(usageTable), [2]);
});

onEachDatabase('more rows than one statement takes, and days that are removed', async (connect) => {
  const { database, changed } = countedDatabase(connect());
  const usageTable = await usageTableOn(() => database);
  const rows = Array.from({ length: 2500 }, (_, i) => ({ ...row, keyId: `key-${i}` }));
  for (const day of ['2026-11-20', '2026-11-21']) await usageTable.add({ id: `${day}.x`, day, rows });
  assert.equal((await usageTable.read()).length, 5000);
  assert.deepEqual(await usageTable.days(), ['2026-11-20', '2026-11-21']);
  changed.length = 0;
  await usageTable.removeDays(['2026-11-20']);
  assert.equal(Math.max(...changed), ROWS_AT_ONCE, 'in pieces');
  assert.deepEqual(await usageTable.days(), ['2026-11-21']);
  assert.equal((await usageTable.read()).length, 2500);
});

onEachDatabase('usage is told by UTC day, account, key and route', async (connect, t) => {
  const usageTable = await usageTableOn(connect);
  const { meter, clock } = createMeter(t, usageTable);
  clock.now = new Date('2026-11-21T23:59:59.999Z');
  meter.record(someRecord);
  meter.record({ ...someRecord, status: 429, bodyBytes: 0, audioS: 0, scoredWindows: 0 });
  meter.record({ ...someRecord, route: '/v0/predict' });
  meter.record({ ...someRecord, keyId: 'key-2', account: 'alpha' });
  await meter.flush();
  clock.now = new Date('2026-11-22T00:00:00Z');
  meter.record(someRecord);
  await meter.flush();
  // Setting back the clock does not overwrite a day's counts.
  clock.now = new Date('2026-11-21T23:00:00Z');
  meter.record(someRecord);
  await meter.flush();

  const one = { account: 'one', keyId: 'key-1' };
  const once = { requests: 1, errors: 0, audioS: 2.5, windows: 1, bytes: 1000 };
  const day = '2026-11-21';
  const alpha = { day, account: 'alpha', keyId: 'key-2', route: '/v1/predict', ...once };
  const v0 = { day, ...one, route: '/v0/predict', ...once };
  const thrice = { requests: 3, errors: 1, audioS: 5, windows: 2, bytes: 2000 };
  const v1 = { day, ...one, route: '/v1/predict', ...thrice };
  const next = { day: '2026-11-22', ...one, route: '/v1/predict', ...once };
  assert.deepEqual(await usageTable.read(), [alpha, v0, v1, next]);
  assert.deepEqual(await usageTable.read({ account: 'alpha' }), [alpha]);
  assert.deepEqual(await usageTable.read({ keyId: 'key-1', to: day }), [v0, v1]);
  assert.deepEqual(await usageTable.read({ from: '2026-11-22' }), [next]);
  assert.deepEqual(await usageTable.read({ keyId: 'key-1', account: 'alpha' }), []);
});

onEachDatabase(
  'a server that stops has counted every request of a valid key, what it cut off included',
  async (connect, t) => {
    const usageTable = await usageTableOn(connect);
    const { meter } = createMeter(t, usageTable);
    const keys = keysOf(
      { id: 'a', account: 'one' },
      { id: 'b', account: 'two', rate: { requests: 1, windowS: 60 } },
    );
    const { server, port, analyser } = await startTestServer(
      t,
      { stopDrainMs: 20 },
      { keys, recorders: [meter] },
    );
    const form = formBody([fileEntry(noise(1000))]);
    for (let round = 0; round < 3; round++) await predict(port, form, { headers: withKey('a') });
    await predict(port, formBody([]), { headers: withKey('a') });
    await predict(port, form, { headers: withKey('b') });
    await predict(port, form, { headers: withKey('b') });
    await predict(port, form, { headers: withKey('unknown') });
    await request(port, '/livez');
    // Never answered: the double acts like an analyser whose close rejects running work.
    const { answer } = analyser;
    const started = new Promise<void>((resolve) => {
      analyser.answer = async (analysis) => {
        resolve();
        await new Promise((_, reject) => {
          analysis.signal.addEventListener('abort', () => reject(analysis.signal.reason));
        });
        return answer(analysis);
      };
    });
    const cutOff = predict(port, form, { headers: withKey('a') }).catch((error: unknown) => error);
    await started;
    await server.stop();
    await cutOff;
    const route = '/v1/predict';
    const day = '2026-11-21';
    assert.deepEqual(await usageTable.read(), [
      {
        day,
        account: 'one',
        keyId: 'a',
        route,
        requests: 5,
        errors: 2,
        audioS: 30,
        windows: 6,
        bytes: 4 * form.length + formBody([]).length,
      },
      {
        day,
        account: 'two',
        keyId: 'b',
        route,
        requests: 2,
        errors: 1,
        audioS: 10,
        windows: 2,
        bytes: form.length,
      },
    ]);
  },
);
