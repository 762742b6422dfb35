// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/jobs.md.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type JobBody, jobList, job as jobSchema } from '../../src/jobs/contract/job.js';
import { human } from './support/audio.js';
import { type Answer, postForm, postJson, send, uuidPattern } from './support/client.js';
import { expectError, expectOk, expectPrediction } from './support/judge.js';
import { downloadLink, freshKey, store } from './support/storage.js';
import { wav } from './support/wav.js';

const path = '/v1/jobs';
const file = wav(human(23));

function expectJob(answer: Answer, status: number): JobBody {
  assert.equal(answer.status, status, answer.text);
  return expectOk({ ...answer, status: 200 }, jobSchema);
}

async function ended(id: string): Promise<JobBody> {
  for (;;) {
    const job = expectJob(await send(`${path}/${id}`), 200);
    if (job.finished_at !== null) return job;
    await setTimeout(100);
  }
}

describe('Jobs', () => {
  for (const source of ['key', 'link']) {
    test(`analyse a stored file by its ${source}, as POST /v1/predict does`, async () => {
      const key = freshKey();
      await store(key, file);
      const input = source === 'key' ? { key } : { presigned_url: await downloadLink(key) };
      const answer = await postJson(path, { ...input, threshold: 0.7, silence_threshold: 100 });
      const { id } = expectJob(answer, 202);
      assert.match(id, uuidPattern);
      assert.equal(answer.headers.location, `${path}/${id}`);
      const { state, result, error } = await ended(id);
      assert.deepEqual([state, error], ['succeeded', null]);
      const direct = expectPrediction(
        await postForm('/v1/predict', { file, threshold: '0.7', silence_threshold: '100' }),
      );
      assert.ok(result !== null && 'global' in result);
      assert.deepEqual(result.global, direct.global);
      assert.deepEqual(result.segments, direct.segments);
      assert.equal(result.audio_duration, direct.audio_duration);
      const list = expectOk(await send(`${path}?limit=100&state=succeeded`), jobList);
      assert.ok(list.jobs.some((job) => job.id === id));
    });
  }

  test('are refused if there is no such file', async () => {
    expectError(await postJson(path, { key: freshKey() }), 404, /does not exist/);
  });

  test('with one idempotency_key are one job', async () => {
    const body = { key: freshKey(), idempotency_key: randomUUID() };
    await store(body.key, file);
    const [one, other] = await Promise.all([postJson(path, body), postJson(path, body)]);
    assert.equal(expectJob(one, 202).id, expectJob(other, 202).id);
    expectError(await postJson(path, { ...body, threshold: 0.1 }), 400, /idempotency_key/);
  });

  test('of others and unknown ones are 404', async () => {
    for (const method of ['GET', 'DELETE']) {
      expectError(await send(`${path}/${randomUUID()}`, { method }), 404, /job/);
    }
  });
});
