// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withDatabase } from '../../src/state/database/open-database.js';
import type { AuthenticatedKey } from '../../src/state/keys/authenticator.js';
import { KeyCache } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { request } from '../support/http-client.js';
import { sqliteIn } from '../support/stored-keys.js';
import { writeTinyModels } from '../support/tiny-models.js';

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [
    ['keys', 'create', '--scopes', 'predict,everything'],
    /predict, voiceid, file, admin but received everything/,
  ],
  [['keys', 'create', '--account', 'Big Corp'], /lower-case letters, .* but received Big Corp/],
  [['keys', 'create', '--expires-at', 'soon'], /a time such as 2027-01-31 or .* but received soon/],
  [['keys', 'create', '--expires-at', '2030-01-01T10:00'], /a time such as .* but received 2030-01-01T10:00/],
  [['keys', 'create', '--expires-at', '2099-02-31'], /a time such as .* but received 2099-02-31/],
  [['keys', 'create', '--expires-at', '2001-01-01'], /2001-01-01 is not in the future/],
  [
    ['keys', 'create', '--expires-in', '0d'],
    /a time such as 1y, 90d, 2w, 12h or 30m \(minutes\), at most 100y, but received 0d/,
  ],
  [['keys', 'create', '--expires-in', '1d', '--expires-at', '2099-01-01'], /cannot be used with option/],
  [['keys', 'create', '--rate', '0/s'], /requests per period of at most a day, .* but received 0\/s/],
  [['keys', 'create', '--rate', '5'], /requests per period of at most a day, .* but received 5/],
  [['keys', 'create', '--rate', '5/25h'], /at most a day, .* but received 5\/25h/],
  [['keys', 'create', '--concurrency', '0'], /a whole number from 1, or unlimited, but received 0/],
  [['keys', 'revoke'], /missing required argument 'id'/],
  [['keys', 'delete'], /unknown command 'delete'/],
  [['unknown'], /unknown command 'unknown'/],
];
/** Like a server that starts now. */
const authenticate = (dataDir: string, key: string): Promise<AuthenticatedKey | undefined> =>
  withDatabase(sqliteIn(dataDir), async (database) => {
    const keyCache = await KeyCache.open(new KeyTable(database));
    keyCache.close();
    return keyCache.authenticate(key);
  });

for (const [args, message] of misuses) {
  test(`veravox ${args.join(' ')} is a usage error`, async (context) => {
    const { status, stdout, stderr } = await runCli(args, { VERAVOX_DATA_DIR: temporaryFolder(context) });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('revoking a key that does not exist fails', async (context) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(context) };
  const { status, stderr } = await runCli(['keys', 'revoke', '0123456789ab'], env);
  assert.equal(status, 1);
  assert.equal(stderr, `veravox: There is no key with the id 0123456789ab in ${env.VERAVOX_DATA_DIR}.\n`);
});

test('a created key is alone on standard output and works; it is listed, and revoked it works no more', async (context) => {
  const dataDir = temporaryFolder(context);
  const env = { VERAVOX_DATA_DIR: dataDir };
  const accepts = async (key: string): Promise<boolean> => (await authenticate(dataDir, key)) !== undefined;
  const created = await runCli(
    ['keys', 'create', '--name', 'batch jobs', '--scopes', 'predict', '--expires-in', '30d'],
    env,
  );
  assert.equal(created.status, 0);
  const key = created.stdout.trimEnd();
  assert.ok(await accepts(key));
  const id = key.split('_')[1] ?? '';

  const listed = await runCli(['keys', 'list'], env);
  const row = `${id}  batch jobs  default  predict  \\S+Z  expires \\S+Z  default  default`;
  assert.match(listed.stdout, new RegExp(`^id .*\n${row}\n$`));
  assert.ok(!listed.stdout.includes(key.slice(16)));

  assert.equal((await runCli(['keys', 'revoke', id], env)).status, 0);
  assert.ok(!(await accepts(key)));
  assert.match((await runCli(['keys', 'list'], env)).stdout, /revoked/);
});

test('what a key was given is what the server knows of it and what is listed', async (context) => {
  const dataDir = temporaryFolder(context);
  const env = { VERAVOX_DATA_DIR: dataDir };
  const expiresAt = '2099-01-31T12:00:00Z';
  const limits = ['--rate', '600/2m', '--concurrency', '4'];
  const { stdout } = await runCli(
    ['keys', 'create', '--account', 'acme', '--scopes', 'file,admin', '--expires-at', expiresAt, ...limits],
    env,
  );
  const id = stdout.slice(3, 15);
  assert.deepEqual(await authenticate(dataDir, stdout.trimEnd()), {
    id,
    account: 'acme',
    scopes: new Set(['file', 'admin']),
    rate: { requests: 600, windowS: 120 },
    concurrency: 4,
  });
  const { created_at, ...listed } = JSON.parse((await runCli(['keys', 'list', '--json'], env)).stdout);
  assert.ok(Date.now() - Date.parse(created_at) < 60_000);
  assert.deepEqual(listed, {
    id,
    name: 'unnamed',
    account: 'acme',
    scopes: ['file', 'admin'],
    ends_with_session: false,
    active: true,
    expires_at: '2099-01-31T12:00:00.000Z',
    revoked_at: null,
    rate: { requests: 600, window_s: 120 },
    concurrency: 4,
  });
  assert.match((await runCli(['keys', 'list'], env)).stdout, / {2}600\/120s {2}4\n$/);
  await runCli(['keys', 'create', '--rate', 'unlimited', '--concurrency', 'unlimited'], env);
  assert.match((await runCli(['keys', 'list'], env)).stdout, / {2}active +unlimited {2}unlimited\n$/);
});

test('a key from the command line works in the very next request, and the command names the folder', async (context) => {
  const modelsDir = writeTinyModels(temporaryFolder(context), 'even');
  const env = { VERAVOX_DATA_DIR: temporaryFolder(context), VERAVOX_MODELS_DIR: modelsDir, PORT: '0' };
  const server = new Cli(['serve'], env);
  context.after(() => server.child.kill('SIGKILL'));
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  await server.printed(new RegExp(`^data folder: ${env.VERAVOX_DATA_DIR}$`, 'm'));
  for (let i = 0; i < 2; i++) {
    const { stdout, stderr } = await runCli(['keys', 'create'], env);
    const headers = { 'x-api-key': stdout.trimEnd() };
    const { status } = await request(Number(port), '/v1/file?key_prefix=&entity=analysis', { headers });
    assert.equal(status, 200);
    assert.match(stderr, new RegExp(`^Data folder: ${env.VERAVOX_DATA_DIR} \\(in use by a server\\)$`, 'm'));
  }
  server.child.kill('SIGTERM');
  await server.finished;
  const { stderr } = await runCli(['keys', 'create'], env);
  assert.match(stderr, /^Data folder: .* \(not in use by a server\)$/m);
});

test('where the audit cannot be written no key is made', async (context) => {
  const dataDir = temporaryFolder(context);
  fs.writeFileSync(path.join(dataDir, 'audit'), 'in the way');
  const refused = await runCli(['keys', 'create'], { VERAVOX_DATA_DIR: dataDir });
  assert.equal(refused.status, 1);
  assert.equal(refused.stdout, '');
  assert.equal((await runCli(['keys', 'list'], { VERAVOX_DATA_DIR: dataDir })).stdout, 'No keys.\n');
  const without = await runCli(['keys', 'create'], { VERAVOX_DATA_DIR: dataDir, VERAVOX_AUDIT: 'off' });
  assert.equal(without.status, 0);
});
