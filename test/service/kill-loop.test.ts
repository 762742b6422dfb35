// SPDX-License-Identifier: Apache-2.0
//
// A short run of `npm run bench:kill-loop`, and proof that its checks can fail.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Acknowledged } from '../long/kill-loop/acknowledged.js';
import { problemsAfterStart } from '../long/kill-loop/checks.js';
import { killLoop } from '../long/kill-loop/run.js';
import { startServer } from '../long/kill-loop/server.js';
import { createKey } from '../support/stored-keys.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';

const KILLS = 6;

test('what was acknowledged outlives a few kills in the middle of writes', async (t) => {
  const folder = temporaryFolder(t);
  const modelsDir = writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even');
  const { problems, audit, acknowledged, usageRequests } = await killLoop({
    kills: KILLS,
    folder,
    modelsDir,
    roundsPerCommand: 1,
  });
  assert.deepEqual(problems, []);
  for (const kind of ['stored', 'overwritten', 'predictions', 'checked'] as const) {
    assert.ok(acknowledged[kind] > 0, JSON.stringify(acknowledged));
  }
  const { keys, operatingPoints, killedCommands } = acknowledged;
  assert.equal(keys + operatingPoints + killedCommands, KILLS);
  assert.ok(audit.lines > KILLS);
  assert.ok(usageRequests >= 0);
});

test('what is lost is a problem', async (t) => {
  const folder = temporaryFolder(t);
  const modelsDir = writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even');
  const dataDir = path.join(folder, 'data');
  const apiKey = (await createKey(dataDir, { name: 'any', scopes: ['file'] })).text;
  const server = await startServer({
    ...process.env,
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: modelsDir,
    VERAVOX_SCORING_THREADS: '1',
  });
  t.after(() => server.kill());
  const client = server.clientOf(apiKey);
  for (const key of ['altered', 'back', 'overwritten']) {
    const { url } = await client.createUploadLinks([key]);
    if (url[0] !== undefined) await client.upload(url[0], Buffer.alloc(300_000));
  }
  const done = new Acknowledged();
  done.keys.push(`${apiKey.slice(0, -4)}zzzz`);
  done.stored.set('missing', 'x').set('altered', 'x');
  done.deleted.add('back');
  done.overwritten.acknowledged = 1;
  done.operatingPoints.push('strict');
  fs.writeFileSync(path.join(dataDir, 'objects/incoming/left'), '');
  const problems = await problemsAfterStart(server, apiKey, done, dataDir);
  const expected = [
    /a key is refused/,
    /missing is missing/,
    /altered is another/,
    /back is back/,
    /version 0 after 1/,
    /the operating point strict is missing/,
    /uploads were left behind/,
  ];
  assert.equal(problems.length, expected.length, problems.join('\n'));
  for (const [i, pattern] of expected.entries()) assert.match(problems[i] ?? '', pattern);
});
