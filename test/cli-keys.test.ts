// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyStore } from '../src/keys/key-store.js';
import { runCli, temporaryFolder } from './support/cli.js';

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [
    ['keys', 'create', '--scopes', 'predict,everything'],
    /predict, voiceid, file, admin but received everything/,
  ],
  [['keys', 'create', '--expires', 'soon'], /a date or a number of days such as 90d but received soon/],
  [['keys', 'create', '--expires', '2001-01-01'], /2001-01-01 is not in the future/],
  [['keys', 'revoke'], /missing required argument 'id'/],
  [['keys', 'delete'], /unknown command 'delete'/],
  [['unknown'], /unknown command 'unknown'/],
];
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
  assert.equal(stderr, 'veravox: There is no key with the id 0123456789ab.\n');
});

test('a created key is alone on standard output and works; it is listed, and revoked it works no more', async (context) => {
  const dataDir = temporaryFolder(context);
  const env = { VERAVOX_DATA_DIR: dataDir };
  const accepts = (key: string): boolean => {
    const store = new KeyStore(dataDir);
    store.close();
    return store.authenticate(key) !== undefined;
  };
  const created = await runCli(
    ['keys', 'create', '--name', 'batch jobs', '--scopes', 'predict', '--expires', '30d'],
    env,
  );
  assert.equal(created.status, 0);
  const key = created.stdout.trimEnd();
  assert.ok(accepts(key));
  const id = key.split('_')[1] ?? '';

  const listed = await runCli(['keys', 'list'], env);
  assert.match(listed.stdout, new RegExp(`^${id}  batch jobs  predict  created \\S+  expires \\S+\n$`));
  assert.ok(!listed.stdout.includes(key.slice(16)));

  assert.equal((await runCli(['keys', 'revoke', id], env)).status, 0);
  assert.ok(!accepts(key));
  assert.match((await runCli(['keys', 'list'], env)).stdout, /revoked/);
});
