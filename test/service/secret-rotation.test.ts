// SPDX-License-Identifier: Apache-2.0
//
// The steps of docs/secrets.md: keys and the credentials that sign links change without a failed request.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { VeravoxClient } from '../../client/src/client.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { putSigned } from '../support/signed-chunks.js';
import { writeTinyModels } from '../support/tiny-models.js';

const execute = promisify(execFile);

interface Setting {
  readonly folder: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
}

function setting(t: TestContext): Setting {
  const folder = temporaryFolder(t);
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  const dataDir = path.join(folder, 'data');
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: writeTinyModels(models, 'even'),
  };
  return { folder, dataDir, env };
}

async function serve(t: TestContext, env: Setting['env']): Promise<{ server: Cli; origin: string }> {
  const server = new Cli(['serve'], env);
  t.after(() => server.child.kill('SIGTERM') && server.finished);
  const [, origin = ''] = await server.printed(/is ready on (http:\S+)\n/);
  return { server, origin };
}

const createKey = async (env: Setting['env']): Promise<string> =>
  (await runCli(['keys', 'create', '--account', 'acme'], env)).stdout.trim();

test('keys are replaced under load', async (t) => {
  const { env } = setting(t);
  const { origin } = await serve(t, env);
  const statusOf = async (apiKey: string): Promise<number> =>
    (await fetch(`${origin}/v1/file?key_prefix=&entity=analysis`, { headers: { 'x-api-key': apiKey } }))
      .status;

  const oldKey = await createKey(env);
  let current = oldKey;
  let isOver = false;
  const statuses = new Set<number>();
  const requests = (async () => {
    while (!isOver) statuses.add(await statusOf(current));
  })();
  const newKey = await createKey(env);
  assert.deepEqual([await statusOf(oldKey), await statusOf(newKey)], [200, 200]);
  current = newKey;
  // The request in progress may still have the old key.
  await statusOf(newKey);
  assert.equal((await runCli(['keys', 'revoke', oldKey.slice(3, 15)], env)).status, 0);
  await eventually(async () => (await statusOf(oldKey)) === 401, 'the old key is refused');
  isOver = true;
  await requests;
  assert.deepEqual([...statuses], [200]);
});

const newPair = { accessKeyId: 'VX0123456789ABCDEF01', secretAccessKey: 'another-secret-of-some-length' };

/** curl opens a connection each time, so that requests go to all processes. */
async function statusOf(link: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('curl', ['--silent', '--write-out', '\n%{http_code} ', ...args, link]);
  return /<Code>(\w+)/.exec(stdout)?.[1] ?? /\n(\d+) /.exec(stdout)?.[1] ?? stdout;
}

test('the credentials that sign links are replaced under load: by several processes, from a mounted file', async (t) => {
  const { folder, dataDir, env: base } = setting(t);
  const accountSecret = 'names-of-stored-files-are-made-with-this';
  const mounted = path.join(folder, 'storage-secret');
  fs.writeFileSync(mounted, `${accountSecret}\n`);
  const env = { ...base, VERAVOX_PROCESSES: '2', VERAVOX_STORAGE_SECRET_FILE: mounted };
  // As orchestrators do it: the folder has a link, and its target changes.
  const oldPair = { accessKeyId: 'VXFEDCBA9876543210FE', secretAccessKey: 'the-first-secret-of-some-length' };
  const write = (text: string): void => {
    const file = path.join(folder, 'mounted.json');
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  };
  const secrets = (pair: object, ...earlierCredentials: object[]): string =>
    JSON.stringify({ version: 1, ...pair, accountSecret, earlierCredentials });
  write(secrets(oldPair));
  fs.mkdirSync(dataDir);
  fs.symlinkSync(path.join(folder, 'mounted.json'), path.join(dataDir, 'storage.json'));
  const { server, origin } = await serve(t, env);
  const apiKey = await createKey(env);
  const client = new VeravoxClient({ baseUrl: origin, apiKey });
  const [upload] = (await client.createUploadLinks(['one.bin'])).url;
  assert.ok(upload);
  await client.upload(upload, Buffer.from('one'));
  const download = async (): Promise<string> => (await client.getDownloadLinks('one')).url[0]?.value ?? '';
  const before = await download();
  const uploadBefore = (await client.createUploadLinks(['two.bin'])).url[0]?.value ?? '';
  const isOf = (link: string, { accessKeyId }: { accessKeyId: string }): boolean =>
    link.includes(accessKeyId);
  assert.ok(isOf(before, oldPair));
  const object = before.replace(/\?.*/, '');
  const signedBy = ({ accessKeyId, secretAccessKey }: typeof newPair): Promise<string> =>
    statusOf(
      object,
      '--aws-sigv4',
      'aws:amz:us-east-1:s3',
      '-H',
      'x-amz-content-sha256: UNSIGNED-PAYLOAD',
      '--user',
      `${accessKeyId}:${secretAccessKey}`,
    );

  let isOver = false;
  let count = 0;
  const statuses = new Set<string>();
  const requests = Promise.all(
    [0, 1, 2].map(async () => {
      for (; !isOver; count++) statuses.add(await statusOf(await download()));
    }),
  );

  const reload = (): boolean => server.child.kill('SIGHUP');
  const allLinksAreOf = (pair: typeof newPair) =>
    eventually(async () => {
      const links = await Promise.all(Array.from({ length: 20 }, download));
      return links.every((link) => isOf(link, pair));
    }, 'all processes sign with it');
  write(secrets(newPair, oldPair));
  reload();
  await allLinksAreOf(newPair);
  assert.equal(await statusOf(before), '200');
  assert.equal(await statusOf(uploadBefore, '--request', 'PUT', '--data-binary', 'two'), '200');
  assert.deepEqual([await signedBy(newPair), await signedBy(oldPair)], ['200', '200']);
  const chunked = { link: uploadBefore, content: Buffer.from('two'), hasTrailer: false };
  assert.equal((await putSigned({ ...chunked, secrets: oldPair })).status, 200);

  write('{');
  reload();
  await server.printed(/storage\.json was not reloaded.*(?:\n.*)*storage\.json was not reloaded/);
  assert.deepEqual([await statusOf(before), await statusOf(await download())], ['200', '200']);

  write(secrets(newPair));
  reload();
  await eventually(async () => {
    const refused = await Promise.all(Array.from({ length: 20 }, () => statusOf(before)));
    return refused.every((status) => status === 'InvalidAccessKeyId');
  }, 'all processes refuse the old one');
  assert.deepEqual([await signedBy(newPair), await signedBy(oldPair)], ['200', 'InvalidAccessKeyId']);
  isOver = true;
  await requests;
  assert.ok(count > 10, `${count}`);
  assert.deepEqual([...statuses], ['200']);
});
