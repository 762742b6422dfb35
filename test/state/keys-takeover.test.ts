// SPDX-License-Identifier: Apache-2.0
//
// Keys that earlier versions kept in files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import { ownDataFolder } from '../../src/state/data-folder/data-folder.js';
import { newKey, type StoredKey } from '../../src/state/keys/api-key.js';
import { KeyFileError, readKey } from '../../src/state/keys/key-files.js';
import { KeyRegistry } from '../../src/state/keys/key-registry.js';
import { EarlierServerRuns, openState, withState } from '../../src/state/takeover/open-state.js';
import { temporaryFolder } from '../support/cli.js';
import { sharedPostgres } from '../support/postgres.js';
import { sqliteIn, writeKeyFile } from '../support/stored-keys.js';

const someKey = (at = 1000): StoredKey => newKey({ name: 'test', scopes: ['predict'] }, new Date(at)).key;

const keysIn = (dataDir: string): Promise<StoredKey[]> =>
  withState(sqliteIn(dataDir), (database) => new KeyRegistry(database).list());

const namesIn = (dataDir: string): string[] => fs.readdirSync(path.join(dataDir, 'keys')).sort();

const damage: readonly [what: string, change: (text: string) => string, message: RegExp][] = [
  ['cut off in the middle', (text) => text.slice(0, text.length / 2), /is damaged: .*JSON/],
  ['empty', () => '', /is damaged/],
  ['of another key', (text) => text.replace(/"id": "..../, '"id": "zzzz'), /Expected [0-9a-f]{12} for id/],
  [
    'without a hash',
    (text) => text.replace('secretSha256', 'secret'),
    /64 hexadecimal digits for secretSha256/,
  ],
  [
    'with an unknown scope',
    (text) => text.replace('"predict"', '"all"'),
    /predict, voiceid, file, admin for scopes/,
  ],
  [
    'with a wrong date',
    (text) => text.replace(/"createdAt": "[^"]*"/, '"createdAt": "soon"'),
    /a date for createdAt/,
  ],
  [
    'with a rate of nothing',
    (text) => text.replace('"name"', '"rate": {}, "name"'),
    /requests and a windowS of 1 to 86400/,
  ],
  [
    'with a negative concurrency',
    (text) => text.replace('"name"', '"concurrency": -1, "name"'),
    /a whole number for concurrency/,
  ],
  ['a list', () => '[]', /is damaged/],
  [
    'of a newer version',
    (text) => text.replace('"version": 1', '"version": 2'),
    /has version 2, .*newer veravox wrote it/,
  ],
];

test('a file that is damaged is an error that names it; nothing is taken over or changed until it is repaired', async (context) => {
  for (const [what, change, message] of damage) {
    const dataDir = temporaryFolder(context);
    const [good, file] = [writeKeyFile(dataDir, someKey()), writeKeyFile(dataDir, someKey())];
    const whole = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, change(whole));
    await assert.rejects(keysIn(dataDir), (error: Error) => {
      assert.ok(error instanceof KeyFileError, what);
      return error.message.includes(file) && message.test(error.message);
    });
    assert.deepEqual(namesIn(dataDir), [good, file].map((name) => path.basename(name)).sort(), what);
    assert.equal(fs.readFileSync(file, 'utf8'), change(whole));
    if (what !== 'empty') continue;
    fs.writeFileSync(file, whole);
    assert.equal((await keysIn(dataDir)).length, 2);
  }
});

test('keys of files are in the database after the first start, with all they had; the files stay under another name', async (t) => {
  const dataDir = temporaryFolder(t);
  const wanted = { name: 'b', account: 'acme', rate: { requests: 5, windowS: 60 }, concurrency: 0 };
  const full: StoredKey = {
    ...newKey({ ...wanted, scopes: ['voiceid', 'file'], expiresAt: new Date(9e12) }, new Date(2000)).key,
    revokedAt: new Date(3000),
  };
  const plain = someKey(1000);
  const files = [full, plain].map((key) => writeKeyFile(dataDir, key));
  // From before accounts existed.
  const {
    account: _none,
    version: _neither,
    ...old
  } = JSON.parse(fs.readFileSync(files[1] as string, 'utf8'));
  fs.writeFileSync(files[1] as string, JSON.stringify(old));
  assert.deepEqual(await keysIn(dataDir), [plain, full]);
  const expected = files.map((file) => `${path.basename(file)}.moved-to-database`);
  assert.deepEqual(namesIn(dataDir), [...expected, 'moved-to-database.json'].sort());
});

test('what a restart finds again does not undo a revocation', async (t) => {
  const dataDir = temporaryFolder(t);
  const key = someKey();
  const file = writeKeyFile(dataDir, key);
  const content = fs.readFileSync(file);
  await keysIn(dataDir);
  await withState(sqliteIn(dataDir), (database) => new KeyRegistry(database).revoke(key.id, new Date(5000)));
  // As after a kill between the database and the renaming of the file.
  fs.writeFileSync(file, content);
  assert.deepEqual(await keysIn(dataDir), [{ ...key, revokedAt: new Date(5000) }]);
  assert.ok(!fs.existsSync(file));
});

test('an earlier program refuses the folder from then on, and says which file is too new', async (t) => {
  for (const hasKeys of [false, true]) {
    const dataDir = temporaryFolder(t);
    if (hasKeys) writeKeyFile(dataDir, someKey());
    await keysIn(dataDir);
    // Earlier programs do this with every .json in this folder.
    const [marker = '', ...others] = namesIn(dataDir).filter((name) => name.endsWith('.json'));
    assert.deepEqual(others, []);
    assert.throws(
      () => readKey(path.join(dataDir, 'keys', marker)),
      /moved-to-database\.json cannot be read: it has version 2, .* A newer veravox wrote it: use that one\./,
    );
  }
});

test('a command leaves the files alone while a server of an earlier version may work with them', async (t) => {
  const dataDir = temporaryFolder(t);
  const file = writeKeyFile(dataDir, someKey());
  const folder = await ownDataFolder(dataDir);
  await assert.rejects(keysIn(dataDir), EarlierServerRuns);
  assert.ok(fs.existsSync(file) && !fs.existsSync(path.join(dataDir, 'keys/moved-to-database.json')));
  await (await openState(sqliteIn(dataDir), true)).close();
  assert.equal((await keysIn(dataDir)).length, 1);
  folder.release();
});

const postgres = sharedPostgres();

test('several hosts with files of their own all bring their keys to PostgreSQL', async (t: TestContext) => {
  const url = await (await postgres()).createDatabase();
  const hosts = [temporaryFolder(t), temporaryFolder(t)];
  const keys = hosts.flatMap((dataDir) => [someKey(), someKey()].map((key) => ({ dataDir, key })));
  for (const { dataDir, key } of keys) writeKeyFile(dataDir, key);
  const settings = (dataDir: string) => ({ ...sqliteIn(dataDir), database: parseDatabaseAddress(url) });
  const opened = await Promise.all(hosts.map((dataDir) => openState(settings(dataDir), true)));
  const [database] = opened;
  const stored = database && (await new KeyRegistry(database).list());
  for (const each of opened) await each.close();
  assert.deepEqual(new Set(stored?.map(({ id }) => id)), new Set(keys.map(({ key }) => key.id)));
});

test('a takeover that is killed at any point loses no key', async (t) => {
  const dataDir = temporaryFolder(t);
  const ids = Array.from({ length: 200 }, () => {
    const key = someKey();
    writeKeyFile(dataDir, key);
    return key.id;
  });
  const program = fileURLToPath(new URL('../support/take-over.js', import.meta.url));
  /** @returns whether it came to its end */
  const attempt = async (killAfterFiles: number): Promise<boolean> => {
    const child = spawn(process.execPath, [program, dataDir], { stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const isDone = (): boolean =>
      namesIn(dataDir).filter((name) => name.endsWith('.moved-to-database')).length >= killAfterFiles ||
      (killAfterFiles < 0 && fs.existsSync(path.join(dataDir, 'veravox.db-wal')));
    const timer = setInterval(() => {
      if (isDone()) child.kill('SIGKILL');
    }, 1);
    const status = await ended;
    clearInterval(timer);
    return status === 0;
  };
  // Once as soon as there is a database, then once the first files are renamed.
  for (const killAfterFiles of [-1, 1, 100]) {
    const isComplete = await attempt(killAfterFiles);
    const left = namesIn(dataDir).filter((name) => /^[0-9a-f]{12}\.json$/.test(name)).length;
    assert.ok(isComplete ? left === 0 : left <= ids.length);
  }
  assert.deepEqual(new Set((await keysIn(dataDir)).map(({ id }) => id)), new Set(ids));
});
