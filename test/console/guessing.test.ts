// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Passwords } from '../../src/console/users/passwords.js';
import { SignInLimits } from '../../src/console/users/sign-in-limits.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { addUser, PASSWORD, postSession, signIn } from '../support/admin.js';
import { onEachDatabase } from '../support/databases.js';
import { startJobServer } from '../support/job-server.js';

const wrong = (name: string) => ({ name, password: 'a wrong password' });

test('guesses for a name are slowed down, also if there is no such user, and the right password waits, too', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'viewer');
  for (const name of ['viewer', 'nobody']) {
    for (let i = 0; i < 5; i++) {
      const answer = await postSession(port, wrong(name));
      assert.deepEqual([answer.status, answer.headers['x-error-key']], [401, 'SIGN_IN_REFUSED'], name);
    }
    // A slow disk must not outlast the pause of a second.
    await database.execute(
      'UPDATE sign_in_attempts SET free_at_ms = free_at_ms + 60000 WHERE free_at_ms > last_at_ms',
    );
    const limited = await postSession(port, { name, password: PASSWORD });
    assert.deepEqual([limited.status, limited.headers['x-error-key']], [429, 'SIGN_IN_LIMITED'], name);
    assert.ok(Number(limited.headers['retry-after']) >= 1, name);
  }
});

test('wrong names and wrong passwords have one answer, for a disabled user and one without a password, too', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'admin');
  const admin = await signIn(port, 'admin');
  await addUser(database, 'viewer', 'disabled');
  const { json } = await admin.call('GET', '/v1/admin/users');
  const { id } = json.users.find(({ name }: { name: string }) => name === 'disabled');
  await admin.call('PATCH', `/v1/admin/users/${id}`, { disabled: true });
  await admin.call('POST', '/v1/admin/users', { name: 'invited', role: 'viewer' });
  const answers = new Set<string>();
  for (const body of [
    wrong('admin'),
    wrong('nobody'),
    { name: 'disabled', password: PASSWORD },
    { name: 'invited', password: PASSWORD },
    { name: 'invited', password: '' },
    { password: PASSWORD },
    { name: '<script>alert(1)</script>', password: PASSWORD },
    { name: '../../etc/passwd', password: 'x'.repeat(1024) },
  ]) {
    const { status, headers, json: answer } = await postSession(port, body);
    const { correlation_id, timestamp, ...same } = answer;
    assert.ok(correlation_id && timestamp !== null);
    answers.add(JSON.stringify([status, headers['x-error-key'], headers['set-cookie'], same]));
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
});

test('what cannot be a name or a password is refused as such, whoever there is', async (t) => {
  const { port } = await startJobServer(t);
  for (const body of [
    { name: 'x'.repeat(101), password: PASSWORD },
    { name: 'a\u0000b', password: PASSWORD },
    { name: 'a\u001b[2Jb', password: PASSWORD },
    { name: ['admin'], password: PASSWORD },
    { name: 'admin', password: 'x'.repeat(1025) },
    { name: 'admin' },
    { name: 'admin', password: PASSWORD, token: 'short' },
  ]) {
    const { status, headers } = await postSession(port, body);
    assert.deepEqual(
      [status, headers['x-error-key']],
      [400, 'FIELD_INVALID'],
      JSON.stringify(body).slice(0, 80),
    );
  }
});

test('names of users are visible text, and come back as they are', async (t) => {
  const { port, database } = await startJobServer(t);
  await addUser(database, 'admin');
  const admin = await signIn(port, 'admin');
  const markup = '<img src=x onerror=alert(1)> & "quotes"';
  const made = await admin.call('POST', '/v1/admin/users', { name: markup, role: 'viewer' });
  assert.equal(made.status, 201);
  assert.equal(made.json.user.name, markup);
  assert.match(String(made.headers['content-type']), /^application\/json/);
  for (const name of ['', ' a', 'a ', 'a\nb', 'a\u202eb', 'a\u0085b', 'x'.repeat(101), '\ud800']) {
    const { status, headers } = await admin.call('POST', '/v1/admin/users', { name, role: 'viewer' });
    assert.deepEqual([status, headers['x-error-key']], [400, 'FIELD_INVALID'], JSON.stringify(name));
  }
});

onEachDatabase(
  'the pause doubles up to 15 minutes, holds on every host, and is forgotten after an hour',
  async (connect) => {
    const one = connect();
    await migrate(one, migrations);
    let nowMs = 1_800_000_000_000;
    // Separate limits for each attempt: the part in memory plays no role, as on many hosts.
    const attempt = (name = 'ada', address = '192.0.2.1') =>
      new SignInLimits(one, () => nowMs).begin(name, address);
    for (let i = 0; i < 5; i++) assert.equal(await attempt(), 0);
    const pausesMs: number[] = [];
    for (let i = 0; i < 13; i++) {
      const waitMs = await new SignInLimits(connect(), () => nowMs).begin('ADA', `192.0.2.${i + 2}`);
      pausesMs.push(waitMs);
      nowMs += waitMs;
      assert.equal(await attempt('ada', `198.51.100.${i}`), 0);
    }
    assert.deepEqual(pausesMs.slice(0, 4), [1000, 2000, 4000, 8000]);
    assert.equal(pausesMs.at(-1), 900_000);
    nowMs += 3_600_001;
    assert.equal(await attempt(), 0);
    assert.equal(await attempt(), 0, 'counted from the beginning');
  },
);

onEachDatabase('an address that tries many names is slowed down, and others are not', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const nowMs = 1_800_000_000_000;
  const attempt = (name: string, address: string) =>
    new SignInLimits(database, () => nowMs).begin(name, address);
  for (let i = 0; i < 20; i++) assert.equal(await attempt(`user ${i}`, '192.0.2.1'), 0);
  assert.equal(await attempt('another', '192.0.2.1'), 1000);
  assert.equal(await attempt('another', '192.0.2.2'), 0);
  const limits = new SignInLimits(database, () => nowMs);
  for (let i = 0; i < 8; i++) {
    assert.equal(await limits.begin('right', '192.0.2.3'), 0, 'those who get in are not slowed down');
    await limits.succeeded('right', '192.0.2.3');
  }
});

test('a process lets few attempts per minute through to the database, and one address cannot use up all', async (t) => {
  const { database } = await startJobServer(t);
  const limits = new SignInLimits(database);
  const results = Array.from({ length: 500 }, () => limits.shield('192.0.2.1', 'password'));
  assert.equal(results.filter((waitMs) => waitMs === 0).length, 30);
  assert.equal(limits.shield('192.0.2.2', 'password'), 0);
});

test('guesses of passwords from many addresses keep nobody from a link or the provider', async (t) => {
  const { database } = await startJobServer(t);
  const limits = new SignInLimits(database);
  const addresses = Array.from({ length: 300 }, (_, i) => `2001:db8:0:${i.toString(16)}::`);
  const waitsMs = addresses.map((address) => limits.shield(address, 'password'));
  assert.equal(waitsMs.filter((waitMs) => waitMs === 0).length, 240);
  assert.equal(limits.shield('192.0.2.2', 'link'), 0);
  assert.equal(limits.shield('192.0.2.3', 'provider'), 0);
});

test('a wrong name costs as much work as a wrong password, and both a sign-in', async () => {
  const passwords = new Passwords({ logCost: 13 });
  const stored = await passwords.hash(PASSWORD);
  assert.ok(await passwords.verify(PASSWORD, stored));
  const cpuOf = async (given: string | undefined): Promise<number> => {
    const before = process.cpuUsage();
    for (let i = 0; i < 12; i++) assert.equal(await passwords.verify('a wrong password', given), false);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await cpuOf(stored);
  const [known, unknown] = [await cpuOf(stored), await cpuOf(undefined)];
  assert.ok(unknown > known / 3 && unknown < known * 3, `${known} and ${unknown} µs`);
});

test('those who guess keep out nobody who has a link or is signed in', async () => {
  const passwords = new Passwords({ logCost: 4 });
  const ends: string[] = [];
  const guesses = Array.from({ length: 20 }, async () => {
    await passwords.verify('a wrong password', undefined);
    ends.push('guess');
  });
  const known = Array.from({ length: 2 }, async () => {
    await passwords.hash(PASSWORD);
    ends.push('known');
  });
  const results = await Promise.allSettled(guesses);
  await Promise.all(known);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 8);
  // Guesses take turns with earlier requests.
  assert.deepEqual(ends.slice(0, 4), ['guess', 'known', 'guess', 'known']);
});

test('passwords are hashed one at a time, with a salt of their own, whatever their spelling in Unicode', async () => {
  const passwords = new Passwords({ logCost: 4 });
  const [one, two] = [await passwords.hash('Zoë Zoë Zoë Zoë'), await passwords.hash('Zoë Zoë Zoë Zoë')];
  assert.notEqual(one, two);
  assert.match(one, /^scrypt\$4\$/);
  assert.ok(await passwords.verify('Zoe\u0308 Zoe\u0308 Zoe\u0308 Zoe\u0308', one));
  for (const damaged of ['', 'scrypt$4$$', one.slice(0, -1), 'x'.repeat(80)]) {
    assert.equal(await passwords.verify('Zoë Zoë Zoë Zoë', damaged), false);
  }
  const many = Array.from({ length: 9 }, async () => passwords.verify(PASSWORD, one));
  const results = await Promise.allSettled(many);
  const refused = results.filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 1);
  assert.equal((refused[0] as PromiseRejectedResult).reason.key, 'OVERLOADED');
  assert.equal(await passwords.verify('Zoë Zoë Zoë Zoë', one), true, 'there is room again');
});
