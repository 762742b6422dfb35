// SPDX-License-Identifier: Apache-2.0
//
// Operating points in the database.
import assert from 'node:assert/strict';
import { FollowedPoints } from '../../src/service/followed-points.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import type { Profile } from '../../src/state/operating-points/profile.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import { onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { somePoint, someProfile } from '../support/stored-points.js';

const other = { ...somePoint, name: 'mild', threshold: 0.5 };
const otherModel = { ...somePoint, model: 'detector-large-2026-11-22' };

onEachDatabase('a point that is not whole is an error that names it', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const pointTable = new OperatingPointTable(database);
  await pointTable.save(somePoint);
  for (const damage of ['{', '[]', JSON.stringify({ ...somePoint, threshold: 2 }), JSON.stringify(other)]) {
    await database.execute('UPDATE operating_points SET point = $1', [damage]);
    await assert.rejects(
      pointTable.list(),
      /operating point strict of detector-small-2026-11-22 in the data/,
    );
  }
  await pointTable.save(somePoint);
  assert.deepEqual(await pointTable.list(), [somePoint]);
});

onEachDatabase('a saved point is there beside others, in place of its like', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const pointTable = new OperatingPointTable(database);
  for (const point of [somePoint, other, otherModel]) assert.equal(await pointTable.save(point), undefined);
  const again = { ...somePoint, threshold: 0.25 };
  assert.deepEqual(await pointTable.save(again), somePoint);
  assert.deepEqual(await pointTable.list(), [other, otherModel, again]);
});

onEachDatabase('what another process saves is noticed, also if nothing tells of it', async (connect) => {
  const [here, elsewhere] = [connect(), connect()];
  await migrate(here, migrations);
  const pointTable = new OperatingPointTable(here);
  const deaf = {
    revision: () => pointTable.revision(),
    all: () => pointTable.all(),
    follow: () => () => {},
  };
  const told: number[] = [];
  for (const [i, source] of [pointTable, deaf].entries()) {
    const points = await FollowedPoints.open(source, {
      onChange: ({ all }) => told.push(all.length),
      onError: () => assert.fail('it can be read'),
      onDamaged: assert.fail,
      pollMs: source === deaf ? 20 : 1e6,
    });
    await new OperatingPointTable(elsewhere).save({ ...somePoint, name: `p${i}` });
    await eventually(() => points.current.all.length === i + 1, 'it is noticed');
    points.close();
  }
  assert.deepEqual(told, [1, 2]);
});

onEachDatabase('a point that cannot be read leaves those known before in use', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const pointTable = new OperatingPointTable(database);
  await pointTable.save(somePoint);
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const points = await FollowedPoints.open(pointTable, {
    onChange: () => assert.fail('nothing usable has changed'),
    onError,
    onDamaged: assert.fail,
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

onEachDatabase('a profile that is saved or removed elsewhere is noticed', async (connect) => {
  const [here, elsewhere] = [connect(), connect()];
  await migrate(here, migrations);
  const points = await FollowedPoints.open(new OperatingPointTable(here), {
    onChange: () => {},
    onError: () => assert.fail('it can be read'),
    onDamaged: assert.fail,
    pollMs: 1e6,
  });
  const { name, model: id, model_sha256: sha256, fingerprint: scoreFingerprint } = someProfile;
  const model = { id, aliases: [], sha256, scoreFingerprint };
  const isKnown = (): boolean => {
    try {
      return points.current.correctionOf(name, model, 'profile').strength === someProfile.correction.strength;
    } catch {
      return false;
    }
  };
  const table = new ProfileTable(elsewhere);
  await table.save({ ...someProfile, correction: { ...someProfile.correction, strength: 1 } });
  const [saved, earlier] = await table.save(someProfile);
  assert.deepEqual(saved, { ...someProfile, version: 2, isInUse: true });
  assert.deepEqual([earlier?.version, earlier?.isInUse], [1, false]);
  assert.deepEqual(await table.inUse(assert.fail), [{ ...someProfile, version: 2 }]);
  await eventually(isKnown, 'it is noticed');
  assert.deepEqual(await table.remove(undefined, name), [someProfile.model]);
  assert.deepEqual(await table.remove(undefined, name), []);
  await eventually(() => !isKnown(), 'its end is noticed');
  await points.refresh();
  points.close();
});

onEachDatabase(
  'only a change has servers read anew, and not more often than they should',
  async (connect) => {
    const database = connect();
    await migrate(database, migrations);
    const [pointTable, table] = [new OperatingPointTable(database), new ProfileTable(database)];
    const { name, model } = someProfile;
    for (let i = 0; i < 2; i++) await table.save(someProfile);
    const revision = await pointTable.revision();
    assert.deepEqual(await table.remove(undefined, 'nothing'), []);
    assert.deepEqual(await table.use(undefined, name, model, 9), []);
    assert.equal((await table.use(undefined, name, model, 2)).length, 2);
    assert.equal(await pointTable.revision(), revision);

    const points = await FollowedPoints.open(pointTable, {
      onChange: () => {},
      onError: () => assert.fail('it can be read'),
      onDamaged: assert.fail,
      pollMs: 1e6,
      pauseMs: 100,
    });
    const beganMs = performance.now();
    for (const version of [1, 2, 1]) {
      await table.use(undefined, name, model, version);
      await points.refresh();
    }
    assert.ok(performance.now() - beganMs >= 195);
    points.close();
  },
);

onEachDatabase('a damaged profile is named, and keeps nobody from the others', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const table = new ProfileTable(database);
  const [bad, good] = ['bad', 'good'].map((account) => ({ ...someProfile, account })) as [Profile, Profile];
  await table.save(good);
  const { correction, ...rest } = someProfile;
  for (const damage of [
    '',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify(rest),
    JSON.stringify({ ...someProfile, name: 'another' }),
    JSON.stringify({ ...someProfile, correction: { ...correction, strength: 'much' } }),
    JSON.stringify({ ...someProfile, correction: { ...correction, direction: null } }),
  ]) {
    await table.save(bad);
    await database.execute("UPDATE profiles SET profile = $1 WHERE account = 'bad'", [damage]);
    const told: string[] = [];
    const points = await FollowedPoints.open(new OperatingPointTable(database), {
      onChange: () => {},
      onError: () => assert.fail('it can be read'),
      onDamaged: ({ message }) => told.push(message),
      pollMs: 1e6,
    });
    points.close();
    assert.equal(told.length, 1, damage);
    assert.match(told[0] ?? '', /profile in the table profiles is damaged: row .*, version 1, of bad\./);
    const { name, model: id, model_sha256: sha256, fingerprint: scoreFingerprint } = someProfile;
    const model = { id, aliases: [], sha256, scoreFingerprint };
    assert.deepEqual(points.current.correctionOf(name, model, 'profile', 'good'), correction);
    assert.throws(() => points.current.correctionOf(name, model, 'profile', 'bad'), { key: 'FIELD_INVALID' });
    assert.deepEqual(await table.usableBy('bad'), []);
    await assert.rejects(table.versions('bad', name), { name: 'DamagedValue' });
    assert.deepEqual(await table.remove('bad', name), [id], 'its account can delete it');
  }
});
