// SPDX-License-Identifier: Apache-2.0
//
// Rates over several hosts: the database's grants, and a host's use of them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LeasedRates } from '../../src/api/admission/leased-rates.js';
import type { RateState } from '../../src/api/admission/rate-limits.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import type { RateLimit } from '../../src/state/keys/api-key.js';
import { type RateGrant, type RateQuestion, RateWindows } from '../../src/state/rates/rate-windows.js';
import { postgresAt } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { sharedPostgres } from '../support/postgres.js';

const postgres = sharedPostgres();
const question = (more: Partial<RateQuestion> = {}): RateQuestion => ({
  keyId: 'a',
  requests: 100,
  windowS: 600,
  window: 0,
  used: 0,
  wanted: 0,
  ...more,
});

/** As many hosts as wanted, on one empty database. */
async function windowsOf(t: TestContext, hosts: number): Promise<[RateWindows, ...RateWindows[]]> {
  const url = await (await postgres()).createDatabase();
  const databases = Array.from({ length: hosts }, () => postgresAt(url));
  t.after(() => Promise.all(databases.map((database) => database.close())));
  for (const database of databases) await migrate(database, migrations);
  return databases.map((database) => new RateWindows(database)) as [RateWindows, ...RateWindows[]];
}

async function takeOne(windows: RateWindows, more: Partial<RateQuestion>): Promise<RateGrant> {
  const [grant] = await windows.take([question(more)]);
  assert.ok(grant);
  return grant;
}

test('windows of keys that are used no more are removed', async (t) => {
  const database = postgresAt(await (await postgres()).createDatabase());
  t.after(() => database.close());
  await migrate(database, migrations);
  const windows = new RateWindows(database);
  for (const keyId of ['gone', 'lately']) await takeOne(windows, { keyId });
  await database.execute(
    "UPDATE rate_windows SET ends_at_ms = CASE key_id WHEN 'gone' THEN 1 ELSE CAST($1 AS BIGINT) END",
    [Date.now() - 60_000],
  );
  await takeOne(windows, { keyId: 'new' });
  const names = async () =>
    (await database.query('SELECT key_id FROM rate_windows ORDER BY key_id')).map(({ key_id }) => key_id);
  assert.deepEqual(await names(), ['gone', 'lately', 'new'], 'once in a while');
  await takeOne(new RateWindows(database), { keyId: 'new' });
  assert.deepEqual(await names(), ['lately', 'new']);
});

test('hosts that ask at the same time are granted exactly the limit together', async (t) => {
  const hosts = await windowsOf(t, 3);
  const keys = ['a', 'b', 'c'];
  const rounds = Array.from({ length: 45 }, (_, i) =>
    // In a different order each time, which must not make them wait for each other.
    (hosts[i % 3] as RateWindows).take(
      keys.map((_key, j) => question({ keyId: keys[(i + j) % 3] as string, wanted: 7 })),
    ),
  );
  const grants = (await Promise.all(rounds)).flat();
  for (const key of keys) {
    const own = grants.filter(({ keyId }) => keyId === key);
    assert.equal(own.length, 45);
    assert.equal(
      own.reduce((sum, { granted }) => sum + granted, 0),
      100,
    );
    assert.equal(new Set(own.map(({ window }) => window)).size, 1);
    assert.ok(own.every(({ leftMs }) => leftMs > 0 && leftMs <= 600_000));
  }
});

test('what was used without a grant counts, and what is given back is granted again', async (t) => {
  const [first, second] = (await windowsOf(t, 2)) as [RateWindows, RateWindows];
  const { window, ...rest } = await takeOne(first, { used: 90, wanted: 4 });
  assert.deepEqual([rest.granted, rest.taken], [4, 94]);
  const other = await takeOne(second, { used: 4, wanted: 4 });
  assert.deepEqual([other.window, other.granted, other.taken], [window, 2, 100]);
  assert.equal((await takeOne(second, { window, wanted: 4 })).granted, 0);
  assert.equal((await takeOne(first, { window, used: -3 })).taken, 97);
  assert.equal((await takeOne(second, { window, wanted: 4 })).granted, 3);
  // More than the limit was used while nobody answered.
  const late = await takeOne(first, { window, used: 50, wanted: 1 });
  assert.deepEqual([late.granted, late.taken], [0, 150]);
});

test('a window that is over has no say in the next', async (t) => {
  const [windows] = await windowsOf(t, 1);
  const short = { windowS: 3 };
  const { window } = await takeOne(windows, { ...short, wanted: 100 });
  let next: RateGrant | undefined;
  await eventually(async () => {
    next = await takeOne(windows, { ...short, window, used: 30, wanted: 10 });
    return next.window !== window;
  }, 'the window ends');
  assert.deepEqual([next?.granted, next?.taken], [10, 10]);
  assert.equal((await takeOne(windows, { ...short, window, used: -5, wanted: 1 })).taken, 11);
});

test('another limit of the same key has a window of its own', async (t) => {
  const [windows] = await windowsOf(t, 1);
  await takeOne(windows, { wanted: 100 });
  assert.equal((await takeOne(windows, { requests: 101, wanted: 9 })).granted, 9);
});

/** The number of accepted requests of these, sent in groups of eight. @param hostOf which host gets the i-th */
async function acceptedOf(
  hosts: readonly LeasedRates[],
  rate: RateLimit,
  count: number,
  hostOf: (i: number) => number,
): Promise<number> {
  const key = { id: `key ${hostOf} ${rate.requests}`, rate };
  const states: (RateState | undefined)[] = [];
  for (let i = 0; i < count; i += 8) {
    const group = Array.from({ length: 8 }, (_, j) => hosts[hostOf(i + j)]?.count(key));
    states.push(...(await Promise.all(group)));
  }
  assert.ok(states.every((state) => state?.requests === rate.requests));
  return states.filter((state) => !state?.isExceeded).length;
}

test('however requests are spread over the hosts, accepted are at most 5 % more or fewer than the limit', async (t) => {
  const windows = await windowsOf(t, 2);
  const hosts = windows.map((each) => new LeasedRates(each, { requests: 0, windowS: 1 }));
  t.after(() => Promise.all(hosts.map((host) => host.close())));
  for (const requests of [10, 60, 500, 2000]) {
    const rate = { requests, windowS: 600 };
    for (const hostOf of [
      () => 0,
      (i: number) => i % 2,
      (i: number) => Number(i % 20 === 0),
      (i: number) => Number(i >= requests / 2),
    ]) {
      const accepted = await acceptedOf(hosts, rate, Math.ceil(requests * 1.5), hostOf);
      assert.ok(
        Math.abs(accepted - requests) <= requests * 0.05,
        `${accepted} of ${requests}, spread by ${hostOf}`,
      );
    }
  }
});

test('once the window has ended, requests are accepted again on both hosts', async (t) => {
  const windows = await windowsOf(t, 2);
  const hosts = windows.map((each) => new LeasedRates(each, { requests: 4, windowS: 2 }));
  t.after(() => Promise.all(hosts.map((host) => host.close())));
  const [first, second] = hosts as [LeasedRates, LeasedRates];
  const key = { id: 'a' };
  for (let i = 0; i < 4; i++) assert.equal((await first.count(key))?.isExceeded, false);
  const refused = await second.count(key);
  assert.equal(refused?.isExceeded, true);
  assert.ok((refused?.resetsAtMs ?? 0) <= Date.now() + 2000);
  await eventually(async () => (await second.count(key))?.isExceeded === false, 'the next window begins');
  assert.equal((await first.count(key))?.isExceeded, false);
});

/** Answers on command. */
class HeldWindows {
  #isHolding = true;
  readonly asked: { questions: readonly RateQuestion[]; settle: (error?: Error) => void }[] = [];

  take(questions: readonly RateQuestion[]): Promise<RateGrant[]> {
    return new Promise((resolve, reject) => {
      const grants = questions.map(({ wanted: granted, used, ...rest }) => ({
        ...rest,
        window: 77,
        leftMs: 600_000,
        granted,
        taken: granted + used,
      }));
      const settle = (error?: Error): void => (error === undefined ? resolve(grants) : reject(error));
      this.asked.push({ questions, settle });
      if (!this.#isHolding) settle();
    });
  }

  release(): void {
    this.#isHolding = false;
    for (const { settle } of this.asked) settle();
  }
}

/** Whether it settles without outside events. */
const isSettled = (counting: Promise<unknown> | undefined): Promise<boolean> =>
  Promise.race([
    Promise.resolve(counting).then(() => true),
    new Promise<boolean>((resolve) => setImmediate(resolve, false)),
  ]);

test('a request does not wait for the database while something is left of the share or the credit', async (t) => {
  const windows = new HeldWindows();
  const rates = new LeasedRates(windows, { requests: 400, windowS: 600 });
  t.after(() => {
    windows.release();
    return rates.close();
  });
  const key = { id: 'a' };
  // 1 % on credit, and the fifth waits.
  for (let i = 0; i < 4; i++) assert.ok(await isSettled(rates.count(key)), `${i}`);
  const fifth = rates.count(key);
  assert.equal(await isSettled(fifth), false);
  await eventually(() => windows.asked.length === 1, 'it is asked');
  const [first] = windows.asked;
  assert.deepEqual(
    first?.questions.map(({ used, wanted }) => [used, wanted]),
    [[4, 9]],
  );
  first?.settle();
  assert.equal((await fifth)?.isExceeded, false);
  // A share of 2 %, and more is requested before it is used up.
  for (let i = 0; i < 8; i++) assert.ok(await isSettled(rates.count(key)), `${i}`);
  await eventually(() => windows.asked.length === 2, 'it is asked again');
  windows.asked[1]?.settle();
  windows.release();
  await rates.close();
  const [last] = windows.asked.at(-1)?.questions ?? [];
  assert.ok(last?.wanted === 0 && last.used < 0, 'what is left is given back');
});

test('without an answer a host counts for itself after half a second, and tells what it used afterwards', async (t) => {
  const windows = new HeldWindows();
  const problems: unknown[] = [];
  const onAlone = (error: unknown): void => void problems.push(error);
  const rates = new LeasedRates(windows, { requests: 10, windowS: 600 }, { onAlone });
  t.after(() => {
    windows.release();
    return rates.close();
  });
  const key = { id: 'a' };
  const waited = await rates.count(key);
  assert.equal(waited?.isExceeded, false);
  assert.equal(problems.length, 1);
  for (let i = 1; i < 10; i++) assert.equal((await rates.count(key))?.isExceeded, false);
  assert.equal((await rates.count(key))?.isExceeded, true);
  windows.asked[0]?.settle(new Error('cut'));
  await eventually(() => windows.asked.length === 2, 'it is tried again');
  assert.equal((await rates.count(key))?.isExceeded, true);
  assert.deepEqual(
    windows.asked[1]?.questions.map(({ used }) => used),
    [10],
  );
  windows.asked[1]?.settle();
  await eventually(() => problems.length === 2, 'it is over');
  assert.equal(problems[1], undefined);
});
