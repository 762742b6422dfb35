// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkTable } from '../../src/console/users/link-table.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { addUser, cheapPasswords, PASSWORD, postSession, signIn } from '../support/admin.js';
import { onEachDatabase } from '../support/databases.js';
import { startJobServer } from '../support/job-server.js';

onEachDatabase(
  'a link ends when its user gets a password, is disabled, or gets a newer link',
  async (connect) => {
    const database = connect();
    await migrate(database, migrations);
    const [links, users] = [new LinkTable(database), new UserTable(database)];
    const user = await addUser(database, 'viewer');
    const other = await links.createFor((await addUser(database, 'developer')).id);
    for (const [end, makeEnd] of [
      ['a password', () => users.change(user.id, { password: 'scrypt$4$another' })],
      ['disabling, although it is taken back', () => users.change(user.id, { isDisabled: true })],
      ['a newer link', () => links.createFor(user.id)],
    ] as const) {
      const token = await links.createFor(user.id);
      assert.equal(await links.isValid(token), true, end);
      await makeEnd();
      await users.change(user.id, { isDisabled: false });
      assert.equal(await links.isValid(token), false, end);
      assert.equal(
        await links.redeem(token, await cheapPasswords().hash('somebody else has it')),
        undefined,
        end,
      );
    }
    const token = await links.createFor(user.id);
    await users.change(user.id, { role: 'developer' });
    assert.deepEqual([await links.isValid(token), await links.isValid(other)], [true, true], 'others go on');
  },
);

onEachDatabase('of links that are made at the same time, one works', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const { id } = await addUser(database, 'viewer');
  const links = Array.from({ length: 4 }, () => new LinkTable(connect()));
  const tokens = await Promise.all(links.map((one) => one.createFor(id)));
  const valid = await Promise.all(tokens.map((token) => links[0]?.isValid(token)));
  assert.equal(valid.filter(Boolean).length, 1);
});

onEachDatabase('a link that cannot be recorded leaves the earlier one as it was', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const links = new LinkTable(database);
  const { id } = await addUser(database, 'viewer');
  const token = await links.createFor(id);
  await assert.rejects(
    links.createFor(id, () => Promise.reject(new Error('no room'))),
    /no room/,
  );
  assert.equal(await links.isValid(token), true);
});

test('who changes their password ends the link that somebody has made for them', async (t) => {
  const { port, database } = await startJobServer(t);
  const { id } = await addUser(database, 'viewer');
  const token = await new LinkTable(database).createFor(id);
  const browser = await signIn(port, 'viewer');
  const change = { password: PASSWORD, new_password: 'ten other words make a password' };
  assert.equal((await browser.call('POST', '/v1/admin/password', change)).status, 200);
  const answer = await postSession(port, { token, password: 'chosen by whoever has the link' });
  assert.deepEqual([answer.status, answer.headers['x-error-key']], [401, 'LINK_REFUSED']);
});
