// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultDataDir, stateDirIn } from '../../src/base/config/data-dir.js';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import {
  DataFolderInUse,
  isDataFolderInUse,
  ownDataFolder,
} from '../../src/state/data-folder/data-folder.js';
import { describeHolders } from '../../src/state/data-folder/lock-holders.js';
import { openDatabase, openUnchanged } from '../../src/state/database/open-database.js';
import { readUsageFile } from '../../src/state/records/unsent-usage.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { sqliteIn } from '../support/stored-keys.js';

async function owned(t: TestContext, dataDir: string) {
  const folder = await ownDataFolder(dataDir);
  t.after(() => {
    try {
      folder.release();
    } catch {
      // The test has released it.
    }
  });
  return folder;
}

test('a folder that cannot be made is an error at once, with its name and the setting', async () => {
  for (const dataDir of ['/proc/x', '/proc/x/y/z', '/dev/null/data']) {
    const { status, stderr } = await runCli(['serve'], { VERAVOX_DATA_DIR: dataDir, PORT: '0' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      new RegExp(`^veravox: The data folder ${dataDir} cannot be created. .*VERAVOX_DATA_DIR`),
    );
  }
});

test('a second server is told which process has the folder; a process that is killed has it no more', async (t) => {
  const dataDir = temporaryFolder(t);
  const first = new Cli(['serve'], { VERAVOX_DATA_DIR: dataDir, PORT: '0' });
  t.after(() => first.child.kill('SIGKILL'));
  await first.printed(/is ready on/);
  assert.equal(isDataFolderInUse(dataDir), true);
  const second = await runCli(['serve'], { VERAVOX_DATA_DIR: dataDir, PORT: '0' });
  assert.equal(second.status, 1);
  assert.equal(
    second.stderr,
    `veravox: The data folder ${dataDir} is in use by another server (process ${first.child.pid}). ` +
      'Stop that one, or set VERAVOX_DATA_DIR to another folder.\n',
  );
  const listed = await runCli(['keys', 'list'], { VERAVOX_DATA_DIR: dataDir });
  assert.match(listed.stderr, /^Data folder: .* \(in use by a server\)$/m);
  first.child.kill('SIGKILL');
  await first.finished;
  assert.equal(isDataFolderInUse(dataDir), false);
  (await owned(t, dataDir)).release();
});

test('processes that inherit the lock hold it until the last of them has ended', async (t) => {
  const dataDir = temporaryFolder(t);
  const folder = await owned(t, dataDir);
  const child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', folder.lockDescriptor] });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  folder.release();
  assert.equal(isDataFolderInUse(dataDir), true);
  await assert.rejects(ownDataFolder(dataDir), (error) => {
    assert.ok(error instanceof DataFolderInUse);
    // Not of the process that took the lock and passed it to this one.
    assert.ok(error.message.includes(`(process ${child.pid}).`), error.message);
    return true;
  });
  child.kill('SIGKILL');
  await eventually(() => !isDataFolderInUse(dataDir), 'it is free');
});

test('a server that is left over, stopped, after its supervisor is named', async (t) => {
  const dataDir = temporaryFolder(t);
  const folder = await owned(t, dataDir);
  const child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', folder.lockDescriptor] });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  folder.release();
  child.kill('SIGSTOP');
  const { status, stderr } = await runCli(['serve'], { VERAVOX_DATA_DIR: dataDir, PORT: '0' });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`in use by another server \\(process ${child.pid}, which is stopped\\)`));
});

test('where the holder cannot be seen, the message says how to find it', (t) => {
  const lockFile = path.join(temporaryFolder(t), 'server.lock');
  fs.writeFileSync(lockFile, '123\n');
  assert.equal(
    describeHolders(lockFile),
    `started as process 123; as root, \`fuser -v ${lockFile}\` names what holds it`,
  );
});

test('what was left half-written is removed at the start, and nothing else', async (t) => {
  const dataDir = temporaryFolder(t);
  loadStorageSecrets(dataDir);
  const left = [
    'a.tmp',
    'storage.json.x.tmp',
    'audit/head.json.y.tmp',
    'unsent-usage/2026-11-21.z.json.z.tmp',
  ];
  const kept = [
    'notes.txt',
    'unsent-usage/2026-11-21.z.json',
    'objects/abc/x.object',
    'objects/abc/name.tmp',
  ];
  for (const name of [...left, ...kept, 'objects/incoming/half']) {
    fs.mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true });
    fs.writeFileSync(path.join(dataDir, name), 'x');
  }
  await owned(t, dataDir);
  const files = fs
    .readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dataDir, path.join(entry.parentPath, entry.name)));
  assert.deepEqual(files.sort(), [...kept, 'server.lock', 'storage.json'].sort());
});

test('the default is one folder, whatever the working directory', () => {
  const stateDir = '/home/me/.local/state/veravox';
  assert.equal(defaultDataDir({ packageDir: '/opt/veravox', stateDir }), '/opt/veravox/data');
  const installed = '/usr/lib/node_modules/veravox';
  assert.equal(defaultDataDir({ packageDir: installed, stateDir }), stateDir);
  assert.equal(stateDirIn({ HOME: '/home/me' }), stateDir);
  assert.equal(stateDirIn({ HOME: '/home/me', XDG_STATE_HOME: '/state' }), '/state/veravox');
  assert.equal(stateDirIn({ HOME: '/home/me', XDG_STATE_HOME: 'relative' }), stateDir);
});

test('a folder of 0.2 or earlier is refused by every way in, with the file and the way out; it stays as it is', async (t) => {
  const address = parseDatabaseAddress('postgres://nobody@127.0.0.1:1/none');
  for (const file of ['keys/0123456789ab.json', 'usage/2026-11-21.x.json', 'operating-points.json']) {
    const dataDir = temporaryFolder(t);
    fs.mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true });
    fs.writeFileSync(path.join(dataDir, file), '{}');
    const settings = sqliteIn(dataDir);
    for (const open of [
      () => openDatabase(settings),
      () => openDatabase({ ...settings, database: address }),
      () => openUnchanged(settings),
    ]) {
      await assert.rejects(open, {
        name: 'EarlierDataFolder',
        message:
          `The data folder ${dataDir} is of veravox 0.2 or earlier: this version does not read its ${file}. ` +
          'Move keys, usage and operating-points.json out of it and make new keys, or set VERAVOX_DATA_DIR to another folder.',
      });
    }
    const { status, stderr } = await runCli(['serve'], { VERAVOX_DATA_DIR: dataDir, PORT: '0' });
    assert.deepEqual([status, stderr.startsWith(`veravox: The data folder ${dataDir} is of`)], [1, true]);
    assert.deepEqual(
      fs.readdirSync(dataDir).sort(),
      [path.dirname(file), 'server.lock'].map((name) => (name === '.' ? file : name)).sort(),
    );
  }
});

test('a folder is opened whose files of 0.2 are in the database already', async (t) => {
  const dataDir = temporaryFolder(t);
  const files = [
    'keys/moved-to-database.json',
    'keys/0123456789ab.json.moved-to-database',
    'operating-points.json',
  ];
  fs.mkdirSync(path.join(dataDir, 'keys'));
  for (const file of files) fs.writeFileSync(path.join(dataDir, file), '{"version":2}');
  await (await openDatabase(sqliteIn(dataDir))).close();
});

test('files of a newer version are refused by name, those without a version are read', (t) => {
  const dataDir = temporaryFolder(t);
  const secrets = loadStorageSecrets(dataDir);
  fs.mkdirSync(path.join(dataDir, 'unsent-usage'));
  fs.writeFileSync(path.join(dataDir, 'unsent-usage/2026-11-21.x.json'), '{"version":1,"rows":[]}');
  const files: readonly [name: string, read: () => unknown][] = [
    ['storage.json', () => loadStorageSecrets(dataDir)],
    [
      'unsent-usage/2026-11-21.x.json',
      () => readUsageFile(path.join(dataDir, 'unsent-usage/2026-11-21.x.json')),
    ],
  ];
  for (const [name, read] of files) {
    const file = path.join(dataDir, name);
    const { version, ...content } = JSON.parse(fs.readFileSync(file, 'utf8'));
    assert.equal(version, 1, name);
    for (const [other, message] of [
      [
        2,
        /cannot be read: it has version 2, but this program supports versions up to 1\. A newer veravox wrote it/,
      ],
      [0, /Expected a whole number from 1 for version/],
    ] as const) {
      fs.writeFileSync(file, JSON.stringify({ version: other, ...content }));
      assert.throws(read, (error) => {
        const { message: text } = error as Error;
        return text.includes(file) && message.test(text);
      });
    }
    fs.writeFileSync(file, JSON.stringify(content));
    read();
  }
  assert.equal(loadStorageSecrets(dataDir).accountSecret, secrets.accountSecret);
});
