// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultDataDir, hintOfOtherDataDir, stateDirIn } from '../../src/base/config/data-dir.js';
import {
  DataFolderInUse,
  isDataFolderInUse,
  ownDataFolder,
} from '../../src/state/data-folder/data-folder.js';
import { describeHolders } from '../../src/state/data-folder/lock-holders.js';
import { newKey } from '../../src/state/keys/api-key.js';
import { readKey } from '../../src/state/keys/key-files.js';
import { readPointFile } from '../../src/state/operating-points/read-point-file.js';
import { readUsageFile } from '../../src/state/records/usage-files.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { writeKeyFile } from '../support/stored-keys.js';

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
  const { key } = newKey({ name: 'a', scopes: [] });
  writeKeyFile(dataDir, key);
  loadStorageSecrets(dataDir);
  const left = [
    'a.tmp',
    'storage.json.x.tmp',
    'keys/k.tmp',
    'usage/2026.json.x.tmp',
    'audit/head.json.y.tmp',
  ];
  const kept = ['notes.txt', 'objects/abc/x.object', 'objects/abc/name.tmp'];
  for (const name of [...left, ...kept, 'objects/incoming/half']) {
    fs.mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true });
    fs.writeFileSync(path.join(dataDir, name), 'x');
  }
  await owned(t, dataDir);
  const files = fs
    .readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dataDir, path.join(entry.parentPath, entry.name)));
  assert.deepEqual(files.sort(), [...kept, `keys/${key.id}.json`, 'server.lock', 'storage.json'].sort());
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

test('a folder that was meant by earlier versions is pointed out', (t) => {
  const workingDir = temporaryFolder(t);
  assert.equal(hintOfOtherDataDir('/somewhere', workingDir), undefined);
  writeKeyFile(path.join(workingDir, 'data'), newKey({ name: 'a', scopes: [] }).key);
  assert.match(hintOfOtherDataDir('/somewhere', workingDir) ?? '', /set VERAVOX_DATA_DIR=.*\/data\.$/);
  assert.equal(hintOfOtherDataDir(path.join(workingDir, 'data'), workingDir), undefined);
});

test('files of a newer version are refused by name, those without a version are read', (t) => {
  const dataDir = temporaryFolder(t);
  const { key } = newKey({ name: 'a', scopes: [] });
  const keyFile = writeKeyFile(dataDir, key);
  const secrets = loadStorageSecrets(dataDir);
  fs.mkdirSync(path.join(dataDir, 'usage'));
  fs.writeFileSync(path.join(dataDir, 'usage/2026-11-21.x.json'), '{"version":1,"rows":[]}');
  fs.writeFileSync(path.join(dataDir, 'operating-points.json'), '{"version":1,"points":[]}');
  const files: readonly [name: string, read: () => unknown][] = [
    [`keys/${key.id}.json`, () => readKey(keyFile)],
    ['storage.json', () => loadStorageSecrets(dataDir)],
    ['usage/2026-11-21.x.json', () => readUsageFile(path.join(dataDir, 'usage/2026-11-21.x.json'))],
    ['operating-points.json', () => readPointFile(path.join(dataDir, 'operating-points.json'))],
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
    if (name !== 'operating-points.json') fs.writeFileSync(file, JSON.stringify(content));
    else fs.writeFileSync(file, JSON.stringify({ version: 1, ...content }));
    read();
  }
  assert.equal(loadStorageSecrets(dataDir).accountSecret, secrets.accountSecret);
});
