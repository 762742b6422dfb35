// SPDX-License-Identifier: Apache-2.0
//
// The secret for the names of stored files, shared by all hosts with a database and a bucket.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfigError, loadConfig } from '../../src/base/config/load-config.js';
import type { Database } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { type Connect, onPostgres } from '../support/databases.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';

const SECRET = 'a-secret-of-at-least-32-characters.';
const OTHER = 'another-secret-of-at-least-32-chars';

async function tables(connect: Connect): Promise<Database> {
  const database = connect();
  await migrate(database, migrations);
  return database;
}

/** An account's folder and the signature of tickets, on a host with its own data folder. */
async function hostOf(
  t: TestContext,
  database: Database | undefined,
  { dataDir = temporaryFolder(t), storageBucket = 'files', storageSecret = '' } = {},
): Promise<readonly [folder: string, signingSecret: string]> {
  const config = {
    ...testConfig,
    dataDir,
    storageBucket,
    storageEndpoint: 'http://127.0.0.1:1',
    storageSecret,
  };
  const files = await openStorage(config, database && { database });
  await files.storage.close();
  return [files.folderOf('account'), files.signingSecret];
}

const isRefused = (host: Promise<unknown>, message: RegExp): Promise<void> =>
  assert.rejects(host, (error: Error) => {
    assert.equal(error.name, 'OtherSecret', String(error));
    assert.match(error.message, message);
    assert.ok(!error.message.includes(SECRET) && !error.message.includes(OTHER));
    return true;
  });

onPostgres('hosts that start at the same time agree, for each bucket', async (connect, t) => {
  const database = await tables(connect);
  const hosts = await Promise.all(Array.from({ length: 8 }, () => hostOf(t, database)));
  for (const host of hosts) assert.deepEqual(host, hosts[0]);
  const [folder, signing] = await hostOf(t, database, { storageBucket: 'others' });
  assert.notEqual(folder, hosts[0]?.[0]);
  assert.equal(signing, hosts[0]?.[1]);
});

onPostgres(
  'what the first host has in its folder becomes the common secret, and others do not start',
  async (connect, t) => {
    const database = await tables(connect);
    const [first, second] = [temporaryFolder(t), temporaryFolder(t)];
    const { accountSecret } = loadStorageSecrets(first);
    loadStorageSecrets(second);
    const [alone] = await hostOf(t, undefined, { dataDir: first });
    const host = await hostOf(t, database, { dataDir: first });
    assert.equal(host[0], alone);
    assert.deepEqual(await hostOf(t, database), host);
    await isRefused(
      hostOf(t, database, { dataDir: second }),
      /storage\.json of the data folder is another one/,
    );
    // As in the message.
    fs.renameSync(path.join(second, 'storage.json'), path.join(second, 'storage.json.before'));
    assert.deepEqual(await hostOf(t, database, { dataDir: second }), host);
    assert.deepEqual(await hostOf(t, database, { storageSecret: accountSecret }), host);
    await isRefused(hostOf(t, database, { storageSecret: OTHER }), /VERAVOX_STORAGE_SECRET is another one/);
  },
);

onPostgres('a secret from a setting is compared, and never written into the database', async (connect, t) => {
  const database = await tables(connect);
  const host = await hostOf(t, database, { storageSecret: SECRET });
  assert.deepEqual(await hostOf(t, database, { storageSecret: SECRET }), host);
  const rows = await database.query("SELECT * FROM shared_secrets WHERE name LIKE 'bucket %'");
  assert.equal(rows.length, 1);
  assert.ok(!JSON.stringify(rows).includes(SECRET));
  await isRefused(hostOf(t, database, { storageSecret: OTHER }), /VERAVOX_STORAGE_SECRET is another one/);
  await isRefused(hostOf(t, database), /from VERAVOX_STORAGE_SECRET: set the same here/);
});

onPostgres(
  'data folders keep secrets of their own, but hosts take the tickets of one another',
  async (connect, t) => {
    const database = await tables(connect);
    const [one, other] = [
      await hostOf(t, database, { storageBucket: '' }),
      await hostOf(t, database, { storageBucket: '' }),
    ];
    assert.notEqual(one[0], other[0]);
    assert.equal(one[1], other[1]);
  },
);

test('without PostgreSQL, the setting gives hosts the same names, and its folder must not know another one', async (t) => {
  const dataDir = temporaryFolder(t);
  const host = await hostOf(t, undefined, { dataDir, storageSecret: SECRET });
  assert.deepEqual(await hostOf(t, undefined, { storageSecret: SECRET }), host);
  assert.deepEqual(await hostOf(t, undefined, { dataDir }), host);
  for (const storageBucket of ['files', '']) {
    await isRefused(
      hostOf(t, undefined, { dataDir, storageBucket, storageSecret: OTHER }),
      /another one than the accountSecret in storage\.json/,
    );
  }
});

test('an empty file with a secret is refused: it may be about to be written', (t) => {
  const file = path.join(temporaryFolder(t), 'secret');
  for (const text of ['', ' \n']) {
    fs.writeFileSync(file, text);
    for (const secret of [
      'VERAVOX_DATABASE_URL',
      'VERAVOX_STORAGE_SECRET',
      'VERAVOX_OIDC_CLIENT_SECRET',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ]) {
      const message = `Expected a text in the file for ${secret}_FILE, which is empty.`;
      assert.throws(() => loadConfig({ [`${secret}_FILE`]: file }), { name: 'ConfigError', message });
    }
  }
});

test('secrets can come from files, one way or the other, and are never shown', (t) => {
  const file = path.join(temporaryFolder(t), 'secret');
  fs.writeFileSync(file, `${SECRET}\n`);
  assert.equal(loadConfig({ VERAVOX_STORAGE_SECRET_FILE: file }).storageSecret, SECRET);
  assert.equal(loadConfig({ VERAVOX_OIDC_CLIENT_SECRET_FILE: '' }).oidcClientSecret, '');
  const problems: readonly [Record<string, string>, RegExp][] = [
    [
      { VERAVOX_STORAGE_SECRET: SECRET, VERAVOX_STORAGE_SECRET_FILE: file },
      /Expected one of VERAVOX_STORAGE_SECRET and VERAVOX_STORAGE_SECRET_FILE but received both\./,
    ],
    [
      { VERAVOX_DATABASE_URL_FILE: '/nowhere' },
      /VERAVOX_DATABASE_URL_FILE that can be read. There is no such file/,
    ],
    [
      { VERAVOX_DATABASE_URL_FILE: file },
      /for VERAVOX_DATABASE_URL but received another value, which is not shown/,
    ],
    [{ VERAVOX_STORAGE_SECRET: 'short' }, /32 to 256 visible characters.*another value, which is not shown/],
    [{ VERAVOX_STORAGE_SECRT_FILE: file }, /Did you mean VERAVOX_STORAGE_SECRET_FILE\?/],
  ];
  for (const [env, message] of problems) {
    assert.throws(
      () => loadConfig(env),
      (error) =>
        error instanceof ConfigError && message.test(error.message) && !error.message.includes(SECRET),
      JSON.stringify(Object.keys(env)),
    );
  }
});
