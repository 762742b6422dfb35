// SPDX-License-Identifier: Apache-2.0
//
// The steps of docs/secrets.md: keys change without a failed request; a new signer of links leaves files where they are.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { writeTinyModels } from '../support/tiny-models.js';

test('keys are replaced under load, and links to the data folder get another signer', async (t) => {
  const folder = temporaryFolder(t);
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_MODELS_DIR: writeTinyModels(models, 'even'),
    VERAVOX_SCORING_THREADS: '1',
  };
  const serve = async (): Promise<{ server: Cli; origin: string }> => {
    const server = new Cli(['serve'], env);
    t.after(() => server.child.kill('SIGKILL'));
    const [, origin = ''] = await server.printed(/is ready on (http:\S+)\n/);
    return { server, origin };
  };
  const createKey = async (): Promise<string> =>
    (await runCli(['keys', 'create', '--account', 'acme'], env)).stdout.trim();
  const { server, origin } = await serve();
  const statusOf = async (apiKey: string): Promise<number> =>
    (await fetch(`${origin}/v1/file?key_prefix=&entity=analysis`, { headers: { 'x-api-key': apiKey } }))
      .status;

  const oldKey = await createKey();
  const old = new VeravoxClient({ baseUrl: origin, apiKey: oldKey });
  const [link] = (await old.createUploadLinks(['one.bin'])).url;
  assert.ok(link);
  await old.upload(link, Buffer.from('one'));

  let current = oldKey;
  let isOver = false;
  const statuses = new Set<number>();
  const requests = (async () => {
    while (!isOver) statuses.add(await statusOf(current));
  })();
  const newKey = await createKey();
  assert.deepEqual([await statusOf(oldKey), await statusOf(newKey)], [200, 200]);
  current = newKey;
  // The request in progress may still have the old key.
  await statusOf(newKey);
  assert.equal((await runCli(['keys', 'revoke', oldKey.slice(3, 15)], env)).status, 0);
  await eventually(async () => (await statusOf(oldKey)) === 401, 'the old key is refused');
  isOver = true;
  await requests;
  assert.deepEqual([...statuses], [200]);

  const client = new VeravoxClient({ baseUrl: origin, apiKey: newKey });
  const [before] = (await client.getDownloadLinks('one')).url;
  assert.equal((await fetch(before?.value ?? '')).status, 200);
  server.child.kill('SIGTERM');
  await server.finished;
  const file = path.join(folder, 'data/storage.json');
  const secrets = JSON.parse(fs.readFileSync(file, 'utf8'));
  const changed = { accessKeyId: 'VX0123456789ABCDEF01', secretAccessKey: 'another-secret-of-some-length' };
  fs.writeFileSync(file, JSON.stringify({ ...secrets, ...changed }));
  const next = await serve();
  const [after] = (await new VeravoxClient({ baseUrl: next.origin, apiKey: newKey }).getDownloadLinks('one'))
    .url;
  assert.equal(await (await fetch(after?.value ?? '')).text(), 'one');
  // Signed for the host and port at which the server was reached then.
  const { host, pathname, search } = new URL(before?.value ?? '');
  const { status, text } = await request(Number(new URL(next.origin).port), pathname + search, {
    headers: { host },
  });
  assert.equal(status, 403);
  assert.match(text, /InvalidAccessKeyId/);
});
