// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/batches.md.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type JobBody, job as jobSchema } from '../../src/jobs/contract/job.js';
import { human } from './support/audio.js';
import { postForm, postJson, send } from './support/client.js';
import { expectError, expectOk, expectPrediction } from './support/judge.js';
import { downloadLink, freshKey, store } from './support/storage.js';
import { wav } from './support/wav.js';

const file = wav(human(29));

async function ended(id: string): Promise<JobBody> {
  for (;;) {
    const job = expectOk(await send(`/v1/jobs/${id}`), jobSchema);
    if (job.finished_at !== null) return job;
    await setTimeout(100);
  }
}

describe('Batches', () => {
  test('give each line of their manifest the verdict of POST /v1/predict, or its error', async () => {
    const [key, missing, result_key] = [freshKey(), freshKey(), freshKey('jsonl')];
    await store(key, file);
    const lines = `key,prediction_id\n${key},mine\n${missing},\n`;
    const answer = await postJson('/v1/batches', { lines, result_key, threshold: 0.7 });
    assert.equal(answer.status, 202, answer.text);
    const { id } = JSON.parse(answer.text) as JobBody;
    assert.equal(answer.headers.location, `/v1/jobs/${id}`);
    const { state, result, batch } = await ended(id);
    assert.deepEqual([state, result], ['succeeded', null]);
    assert.deepEqual(batch, { lines: 2, succeeded: 1, failed: 1, result_key });
    const text = await (await fetch(await downloadLink(result_key, 'results'))).text();
    const [first, second] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const direct = expectPrediction(await postForm('/v1/predict', { file, threshold: '0.7' }));
    assert.deepEqual([first.line, first.key, first.result.prediction_id], [1, key, 'mine']);
    assert.deepEqual([first.result.global, first.result.segments], [direct.global, direct.segments]);
    assert.deepEqual(
      [second.line, second.key, second.state, second.error.key, second.result],
      [2, missing, 'failed', 'OBJECT_NOT_FOUND', null],
    );
  });

  test('need exactly one manifest', async () => {
    for (const body of [{}, { lines: 'key\na\n', key: 'a' }]) {
      expectError(await postJson('/v1/batches', body), 400);
    }
  });
});
