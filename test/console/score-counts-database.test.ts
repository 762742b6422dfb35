// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { emptyHistogram, totalOf } from '../../src/console/drift/score-bins.js';
import { hourOf, ScoreCounts } from '../../src/console/drift/score-counts.js';
import { ScoreMeter } from '../../src/console/drift/score-meter.js';
import { KEPT_HOURS, ScoreTable, TooFewFiles } from '../../src/console/drift/score-table.js';
import { REFERENCE_FILES } from '../../src/console/drift/stability-index.js';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { onEachDatabase, onPostgres } from '../support/databases.js';

const by = { model: 'm', fingerprint: 'f' };
const HOUR_MS = 3_600_000;
const hour = hourOf(Date.parse('2026-11-21T12:00:00Z'));
const all = { from: 0, to: 10 * hour };

function countsOf(files: number, { at = hour, score = 0.5, of = by } = {}): ScoreCounts {
  const counts = new ScoreCounts();
  for (let i = 0; i < files; i++) {
    counts.countScore(of, 'file', score, at * HOUR_MS + 5);
    counts.countScore(of, 'window', score, at * HOUR_MS + 5);
    counts.countScore(of, 'window', 0.001, at * HOUR_MS + 5);
  }
  return counts;
}

const at = (bin: number, count: number): number[] => emptyHistogram().with(bin, count);

onEachDatabase('counts of several processes add up, hour by hour and model by model', async (connect) => {
  await migrate(connect(), migrations);
  const [here, there] = [new ScoreTable(connect()), new ScoreTable(connect())];
  const other = { model: 'm', fingerprint: 'after an exchange of its file' };
  await Promise.all([
    here.add(countsOf(3)),
    there.add(countsOf(4)),
    here.add(countsOf(2, { at: hour + 1 })),
    there.add(countsOf(1, { of: other })),
  ]);
  const counts = await there.read(all);
  assert.deepEqual(counts.hoursOf(by), [
    [hour, { file: at(9, 7), window: at(9, 7).with(2, 7) }],
    [hour + 1, { file: at(9, 2), window: at(9, 2).with(2, 2) }],
  ]);
  assert.equal(counts.hoursOf(other).length, 1);
  const now = await here.read({ from: hour + 1, to: hour + 1 });
  assert.equal(now.hoursOf(by).length, 1);
});

onEachDatabase(
  'the first files become the reference, over all processes, and then it stays',
  async (connect) => {
    await migrate(connect(), migrations);
    const scoreTables = [new ScoreTable(connect()), new ScoreTable(connect())] as const;
    assert.equal(await scoreTables[0].reference(by), undefined);
    const half = Math.ceil(REFERENCE_FILES / 2);
    await scoreTables[0].add(countsOf(half));
    const growing = await scoreTables[1].reference(by);
    assert.deepEqual([growing?.origin, growing?.isWhole], ['first_files', false]);
    // Simultaneously: neither misses that the other completes it.
    await Promise.all([scoreTables[0].add(countsOf(half)), scoreTables[1].add(countsOf(half))]);
    const whole = await scoreTables[0].reference(by);
    assert.equal(whole?.isWhole, true);
    const files = totalOf(whole?.histograms.file ?? []);
    assert.ok(files === 2 * half || files === 3 * half, String(files));
    await scoreTables[1].add(countsOf(100, { score: 0.999 }));
    assert.deepEqual(await scoreTables[1].reference(by), whole);
  },
);

onEachDatabase(
  'hours that were chosen replace the reference, unless they have too few files',
  async (connect) => {
    await migrate(connect(), migrations);
    const scoreTable = new ScoreTable(connect());
    await scoreTable.add(countsOf(REFERENCE_FILES));
    await scoreTable.add(countsOf(REFERENCE_FILES, { at: hour + 2, score: 0.999 }));
    await scoreTable.add(countsOf(REFERENCE_FILES - 1, { at: hour + 5, score: 0.9 }));
    const before = await scoreTable.reference(by);
    const few = { from: hour + 3, to: hour + 6 };
    await assert.rejects(
      () => scoreTable.choose(by, few, 1),
      (error) => error instanceof TooFewFiles && error.files === REFERENCE_FILES - 1,
    );
    assert.deepEqual(await scoreTable.reference(by), before);
    assert.equal(await scoreTable.choose(by, { from: hour + 1, to: hour + 4 }, 1234), REFERENCE_FILES);
    const chosen = await new ScoreTable(connect()).reference(by);
    assert.deepEqual([chosen?.origin, chosen?.isWhole, chosen?.madeAtMs], ['chosen', true, 1234]);
    assert.deepEqual(chosen?.histograms.file, at(15, REFERENCE_FILES));
  },
);

onEachDatabase('as many hours with scores are kept as is said, whatever the clock does', async (connect) => {
  await migrate(connect(), migrations);
  const scoreTable = new ScoreTable(connect());
  // The clock jumps by ten years, and back.
  const jump = 87_600;
  await scoreTable.add(countsOf(1, { at: hour + jump }));
  for (const later of [0, 1, 2]) await scoreTable.add(countsOf(1, { at: hour + later }));
  assert.equal((await scoreTable.read(all)).hoursOf(by).length, 4);
  const many = new ScoreCounts();
  for (let later = 3; later <= KEPT_HOURS; later++) {
    many.countScore(by, 'file', 0.5, (hour + later) * HOUR_MS);
  }
  await scoreTable.add(many);
  const hours = (await scoreTable.read(all)).hoursOf(by).map(([kept]) => kept);
  assert.equal(hours.length, KEPT_HOURS);
  assert.deepEqual([hours[0], hours.at(-1)], [hour + 2, hour + jump]);
});

onPostgres('what one host adds while another forgets old hours stays', async (connect) => {
  await migrate(connect(), migrations);
  const there = new ScoreTable(connect());
  const database = connect();
  const interrupted: Database['transaction'] = (work, options) =>
    database.transaction(
      (transaction) =>
        work({
          ...transaction,
          async execute(sql, parameters) {
            if (/^DELETE FROM score_counts\b/.test(sql)) await there.add(countsOf(1, { of: other }));
            return transaction.execute(sql, parameters);
          },
        }),
      options,
    );
  const other = { model: 'm', fingerprint: 'of another model' };
  const scoreTable = new ScoreTable(Object.create(database, { transaction: { value: interrupted } }));
  await scoreTable.add(countsOf(1, { at: hour + 1 }));
  const hours = (await there.read(all)).hoursOf(other).map(([kept]) => kept);
  assert.deepEqual(hours, [hour]);
});

onEachDatabase('what the database does not take is added later, and nothing twice', async (connect, t) => {
  await migrate(connect(), migrations);
  const scoreTable = new ScoreTable(connect());
  let isThere = false;
  const errors: unknown[] = [];
  const meter = new ScoreMeter(
    {
      async add(counts) {
        if (!isThere) throw new Error('not there');
        await scoreTable.add(counts);
      },
    },
    { flushMs: 3_600_000, nowMs: () => hour * HOUR_MS, onError: (error) => errors.push(error) },
  );
  t.after(() => meter.close());
  meter.countFileScore('m', 'f', 0.5);
  await meter.flush();
  meter.countFileScore('m', 'f', 0.5);
  meter.countWindowScore('m', 'f', 0.5);
  await meter.flush();
  assert.equal(errors.length, 1);
  isThere = true;
  await meter.flush();
  await meter.flush();
  assert.deepEqual((await scoreTable.read(all)).hoursOf(by), [[hour, { file: at(9, 2), window: at(9, 1) }]]);
});
