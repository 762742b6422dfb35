// SPDX-License-Identifier: Apache-2.0
//
// A server that is killed in the middle of a job: the next one continues after the last saved step, and the result equals that
// of an undisturbed run.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { verdictOf } from '../../client/src/job-result.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import { startServer } from '../long/kill-loop/server.js';
import { eventually } from '../support/eventually.js';
import { createKey, sqliteIn } from '../support/stored-keys.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { monoWav, repeated } from '../support/wav.js';

const input = { key: 'long.wav' };
const options = { model: 'apollo-4-2026-01-16' };

test('a killed server costs a job nothing that was saved', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = path.join(folder, 'data');
  const apiKey = (await createKey(dataDir, { name: 'any', scopes: ['predict', 'file'] })).text;
  const env = {
    ...process.env,
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_SCORING_THREADS: '1',
    VERAVOX_LOG_LEVEL: 'warn',
  };
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const speech = loadAddon().decode(clip).samples;
  const recording = monoWav(repeated(speech, 600 * 16_000), 16_000);

  const first = await startServer(env);
  t.after(() => first.kill());
  const client = first.clientOf(apiKey);
  const { url } = await client.createUploadLinks(['long.wav']);
  assert.ok(url[0]);
  await client.upload(url[0], recording);
  const undisturbed = await client.waitForJob((await client.createJob(input, options)).id);
  assert.equal(undisturbed.state, 'succeeded', JSON.stringify(undisturbed.error));
  assert.equal(verdictOf(undisturbed)?.segments.length, 120);

  const { id } = await client.createJob(input, options);
  let saved = 0;
  await eventually(async () => {
    saved = (await client.getJob(id)).audio_analysed;
    return saved > 0;
  }, 'a step is saved');
  await first.kill();

  // As if half a minute had passed.
  const database = await openDatabase(sqliteIn(dataDir));
  const [left] = await database.query<{ state: string; audio_s: number; saved_steps: number }>(
    'SELECT state, audio_s, saved_steps FROM jobs WHERE id = $1',
    [id],
  );
  assert.equal(left?.state, 'running');
  assert.ok(left.audio_s >= saved && left.audio_s < 600, `${left.audio_s}`);
  // To reveal anything that is scored again.
  await database.execute(
    'UPDATE job_steps SET results = REPLACE(results, \'"endS":5,\', \'"endS":4.5,\') WHERE step = 0',
  );
  await database.execute('UPDATE jobs SET leased_until_ms = 0 WHERE id = $1', [id]);
  await database.close();

  const second = await startServer(env);
  t.after(() => second.kill());
  const resumed = await second.clientOf(apiKey).waitForJob(id);
  assert.equal(resumed.state, 'succeeded', JSON.stringify(resumed.error));
  assert.equal(resumed.attempts, 2);
  assert.deepEqual(verdictOf(resumed)?.global, verdictOf(undisturbed)?.global);
  const [firstSegment, ...others] = verdictOf(resumed)?.segments ?? [];
  assert.equal(firstSegment?.end, 4.5, 'saved windows are not scored again');
  assert.deepEqual(others, verdictOf(undisturbed)?.segments.slice(1));
  assert.equal(verdictOf(resumed)?.audio_duration, 600);
});
