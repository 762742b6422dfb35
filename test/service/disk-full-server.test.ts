// SPDX-License-Identifier: Apache-2.0
//
// A whole server whose disk is full: it says so, loses nothing, and recovers by itself.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { fill, mountSmallDisk, onSmallDisk, removeMounted } from '../support/small-disk.js';
import { createKey } from '../support/stored-keys.js';
import { writeTinyModels } from '../support/tiny-models.js';

test(
  'changes are 503 with the reason and end readiness, predictions go on, no audit line is lost',
  onSmallDisk,
  async (t) => {
    const dataDir = mountSmallDisk();
    const env = {
      PORT: '0',
      VERAVOX_DATA_DIR: dataDir,
      VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
      VERAVOX_DISK_RESERVE_BYTES: '0',
      VERAVOX_DASHBOARD: 'off',
    };
    const { text: key } = await createKey(dataDir, { name: 'all', scopes: ['admin'] });
    const server = new Cli(['serve'], env);
    t.after(async () => {
      server.child.kill();
      await server.finished;
      removeMounted(dataDir);
    });
    const [, port = ''] = await server.printed(/on http:\/\/127\.0\.0\.1:(\d+)/);
    const headers = { 'x-api-key': key };
    const change = () =>
      request(Number(port), '/v1/jobs', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ key: 'any' })),
      });
    const readiness = () => request(Number(port), '/readyz', { headers });
    const upload = formBody([fileEntry(fs.readFileSync('test/fixtures/human-lj-a.flac'))]);
    const predicted = async () => (await predict(Number(port), upload, { headers })).status;
    const { json } = await request(Number(port), '/v1/file', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ keys: ['any'], entity: 'analysis' })),
    });
    assert.equal((await fetch(json.url[0].value, { method: 'PUT', body: 'any bytes' })).status, 200);
    assert.equal((await readiness()).status, 200);

    const other = fill(dataDir);
    await eventually(async () => (await readiness()).status === 503, 'it is not ready');
    const { state, database } = (await readiness()).json;
    assert.deepEqual({ state, database }, { state: 'not_writable', database: 'full' });
    for (let i = 0; i < 3; i++) assert.equal(await predicted(), 200);
    // SQLite may have room in an existing file.
    for (let i = 0; ; i++) {
      const refused = await change();
      if (refused.status !== 503 && i < 100) continue;
      assert.equal(refused.status, 503, refused.text);
      assert.equal(refused.json.error, 'unavailable');
      assert.match(refused.json.message, /there is no room on its disk; retry after 5 s/);
      break;
    }

    fs.rmSync(other);
    await eventually(async () => (await readiness()).status === 200, 'it is ready again');
    await eventually(async () => (await change()).status !== 503, 'changes are made');
    server.child.kill();
    await server.finished;
    assert.equal((await runCli(['audit', 'verify'], env)).status, 0);
    const folder = path.join(dataDir, 'audit');
    const audit = fs
      .readdirSync(folder)
      .map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
      .join('');
    assert.equal(audit.match(/"route":"\/v1\/predict","status":200/g)?.length, 3);
  },
);
