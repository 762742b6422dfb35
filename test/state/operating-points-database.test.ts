// SPDX-License-Identifier: Apache-2.0
//
// Operating points in the database, and those in a file of earlier versions.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { FollowedPoints } from '../../src/service/followed-points.js';
import { ownDataFolder } from '../../src/state/data-folder/data-folder.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { loadOperatingPoints } from '../../src/state/operating-points/load-operating-points.js';
import type { OperatingPoint } from '../../src/state/operating-points/operating-point.js';
import { OperatingPointRegistry } from '../../src/state/operating-points/operating-point-registry.js';
import { OperatingPointFileError, readPointFile } from '../../src/state/operating-points/read-point-file.js';
import { EarlierServerRuns } from '../../src/state/takeover/open-state.js';
import { onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { sqliteIn } from '../support/stored-keys.js';
import { pointsIn, savePoint, somePoint } from '../support/stored-points.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const other = { ...somePoint, name: 'mild', threshold: 0.5 };
const otherModel = { ...somePoint, model: 'detector-large-2026-11-22' };

const writeFile = (file: string, ...points: OperatingPoint[]): void =>
  fs.writeFileSync(file, JSON.stringify({ version: 1, points }));

function folderWith(t: TestContext, ...points: OperatingPoint[]) {
  const dataDir = temporaryFolder(t);
  const file = path.join(dataDir, 'operating-points.json');
  if (points.length > 0) writeFile(file, ...points);
  const names = (): string[] => fs.readdirSync(dataDir).filter((name) => name.startsWith('operating'));
  return { dataDir, file, names };
}

onEachDatabase('a point that is not whole is an error that names it', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const registry = new OperatingPointRegistry(database);
  await registry.save(somePoint);
  for (const damage of ['{', '[]', JSON.stringify({ ...somePoint, threshold: 2 }), JSON.stringify(other)]) {
    await database.execute('UPDATE operating_points SET point = $1', [damage]);
    await assert.rejects(registry.list(), /operating point strict of detector-small-2026-11-22 in the data/);
  }
  await registry.save(somePoint);
  assert.deepEqual(await registry.list(), [somePoint]);
});

onEachDatabase('a saved point is there beside others, in place of its like', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const registry = new OperatingPointRegistry(database);
  for (const point of [somePoint, other, otherModel]) assert.equal(await registry.save(point), undefined);
  const again = { ...somePoint, threshold: 0.25 };
  assert.deepEqual(await registry.save(again), somePoint);
  assert.deepEqual(await registry.list(), [other, otherModel, again]);
  const unknown = { ...somePoint, name: 'new' };
  await registry.add([somePoint, unknown]);
  assert.deepEqual(await registry.list(), [other, otherModel, again, unknown]);
});

onEachDatabase('what another process saves is noticed, also if nothing tells of it', async (connect) => {
  const [here, elsewhere] = [connect(), connect()];
  await migrate(here, migrations);
  const registry = new OperatingPointRegistry(here);
  const deaf = {
    revision: () => registry.revision(),
    list: () => registry.list(),
    follow: () => () => {},
  };
  const told: number[] = [];
  for (const [i, source] of [registry, deaf].entries()) {
    const points = await FollowedPoints.open(source, {
      onChange: ({ all }) => told.push(all.length),
      onError: () => assert.fail('it can be read'),
      pollMs: source === deaf ? 20 : 1e6,
    });
    await new OperatingPointRegistry(elsewhere).save({ ...somePoint, name: `p${i}` });
    await eventually(() => points.current.all.length === i + 1, 'it is noticed');
    points.close();
  }
  assert.deepEqual(told, [1, 2]);
});

onEachDatabase('a point that cannot be read leaves those known before in use', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const registry = new OperatingPointRegistry(database);
  await registry.save(somePoint);
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const points = await FollowedPoints.open(registry, {
    onChange: () => assert.fail('nothing usable has changed'),
    onError,
    pollMs: 1e6,
  });
  await database.execute("UPDATE operating_points SET point = '{'");
  await database.execute("UPDATE revisions SET revision = revision + 1 WHERE topic = 'operating-points'");
  await points.refresh();
  await points.refresh();
  assert.equal(errors.length, 1);
  assert.deepEqual(points.current.all, [somePoint]);
  points.close();
});

test('points of a file are in the database after the first start; the file stays under another name', async (t) => {
  const { dataDir, file, names } = folderWith(t, somePoint, other);
  const content = fs.readFileSync(file, 'utf8');
  assert.deepEqual((await loadOperatingPoints(sqliteIn(dataDir))).all, [somePoint, other]);
  assert.deepEqual(names(), ['operating-points.json'], 'reading changes nothing');
  assert.deepEqual(await pointsIn(dataDir), [somePoint, other]);
  assert.deepEqual(names(), ['operating-points.json', 'operating-points.json.moved-to-database']);
  assert.equal(fs.readFileSync(`${file}.moved-to-database`, 'utf8'), content);
  assert.deepEqual((await loadOperatingPoints(sqliteIn(dataDir))).all, [somePoint, other]);
});

test('an earlier program refuses the folder from then on, and says which file is too new', async (t) => {
  for (const points of [[], [somePoint]]) {
    const { dataDir, file } = folderWith(t, ...points);
    await pointsIn(dataDir);
    assert.throws(
      () => readPointFile(file),
      /operating-points\.json cannot be read: it has version 2, .* A newer veravox wrote it: use that one\./,
    );
  }
});

test('a takeover that ended at any point is finished by the next, and does not undo what came later', async (t) => {
  const mark = '{"version":2}';
  const states: [what: string, prepare: (file: string, dataDir: string) => unknown][] = [
    ['before the mark', (file) => fs.linkSync(file, `${file}.moving`)],
    [
      'before the mark, and an earlier program went on',
      (file) => {
        writeFile(`${file}.moving`, { ...somePoint, threshold: 0.1 });
      },
    ],
    [
      'before the database',
      (file) => {
        fs.renameSync(file, `${file}.moving`);
        fs.writeFileSync(file, mark);
      },
    ],
    [
      'before the new name',
      async (file, dataDir) => {
        await pointsIn(dataDir);
        fs.renameSync(`${file}.moved-to-database`, `${file}.moving`);
      },
    ],
  ];
  for (const [what, prepare] of states) {
    const { dataDir, file, names } = folderWith(t, somePoint, other);
    await prepare(file, dataDir);
    assert.deepEqual((await loadOperatingPoints(sqliteIn(dataDir))).all, [somePoint, other], what);
    assert.deepEqual(await pointsIn(dataDir), [somePoint, other], what);
    assert.deepEqual(names(), ['operating-points.json', 'operating-points.json.moved-to-database'], what);
  }
  const { dataDir, file } = folderWith(t, somePoint);
  await savePoint(dataDir, { ...somePoint, threshold: 0.1 });
  fs.renameSync(`${file}.moved-to-database`, `${file}.moving`);
  assert.equal((await pointsIn(dataDir))[0]?.threshold, 0.1);
});

test('a command leaves the file alone while a server of an earlier version may work with it', async (t) => {
  const { dataDir, names } = folderWith(t, somePoint);
  const folder = await ownDataFolder(dataDir);
  await assert.rejects(pointsIn(dataDir), EarlierServerRuns);
  assert.deepEqual(names(), ['operating-points.json']);
  folder.release();
});

test('a file that is damaged is refused with its name, and stays as it is until it is repaired', async (t) => {
  const { dataDir, file, names } = folderWith(t);
  const whole = { version: 1, points: [somePoint] };
  const damages: [content: string, message: RegExp][] = [
    ['{', /operating-points\.json cannot be used: .*JSON/],
    ['[]', /the file must be object/],
    [JSON.stringify({ ...whole, version: 3 }), /cannot be read: it has version 3, .* newer veravox wrote it/],
    [
      JSON.stringify({ ...whole, points: [{ ...somePoint, threshold: 2 }] }),
      /\/points\/0\/threshold must be <= 1/,
    ],
    [JSON.stringify({ ...whole, points: [{ ...somePoint, name: '0.5' }] }), /\/points\/0\/name must match/],
    [
      JSON.stringify({ ...whole, points: [somePoint, somePoint] }),
      /strict of detector-small.* appears twice/,
    ],
  ];
  for (const [content, message] of damages) {
    fs.writeFileSync(file, content);
    for (const read of [() => loadOperatingPoints(sqliteIn(dataDir)), () => pointsIn(dataDir)]) {
      await assert.rejects(read(), (error: Error) => {
        assert.ok(error instanceof OperatingPointFileError);
        return message.test(error.message);
      });
    }
    assert.equal(fs.readFileSync(file, 'utf8'), content);
    assert.deepEqual(names(), ['operating-points.json']);
  }
  fs.writeFileSync(file, JSON.stringify(whole));
  assert.deepEqual(await pointsIn(dataDir), [somePoint]);
});
