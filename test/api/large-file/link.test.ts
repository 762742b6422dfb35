// SPDX-License-Identifier: Apache-2.0
//
// /v1/predict/large-file with a link instead of a file.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { noise } from '../../support/form-body.js';
import { startJobServer } from '../../support/job-server.js';

const path = '/v1/predict/large-file';
const idle = { jobWorkers: 0, maxLargeFileBytes: 6_000_000, maxObjectBytes: 10_000_000 };

test('a large file may come by link: its bytes are analysed, and the answer is that of an upload', async (t) => {
  const server = await startJobServer(t, idle);
  const file = noise(5_500_000);
  const link = await server.store('long.wav', file);
  const { status, text, json } = await server.call('POST', path, {
    presigned_url: link,
    prediction_id: 'mine',
    filename: 'long.wav',
  });
  assert.equal(status, 200, text);
  assert.deepEqual(server.analyser.hashes, [createHash('sha256').update(file).digest('hex')]);
  assert.deepEqual([json.prediction_id, json.model], ['mine', 'apollo-4-2025-10-20']);
  assert.deepEqual(
    json.segments.map(({ index }: { index: number }) => index),
    [0, 1],
  );
});

test('links to files that are too small or too large are refused, and no memory is kept', async (t) => {
  const server = await startJobServer(t, idle);
  const cases: [bytes: number, status: number, message: RegExp][] = [
    [4_999_999, 400, /\/v1\/predict takes smaller ones/],
    [6_000_001, 413, /\/v1\/jobs takes larger ones/],
  ];
  for (const [bytes, status, message] of cases) {
    const link = await server.store(String(bytes), noise(bytes));
    // More often than the memory for large files allows.
    for (let i = 0; i < 15; i++) {
      const answer = await server.call('POST', path, { presigned_url: link });
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.json.message, message);
    }
  }
  assert.equal(server.arena.usedBytes, 0);
  const link = await server.store('right', noise(5_000_000));
  assert.equal((await server.call('POST', path, { presigned_url: link })).status, 200);
});

test('a link that cannot be used is refused as in /v1/predict', async (t) => {
  const server = await startJobServer(t, idle);
  for (const presigned_url of [undefined, null, 5, '', 'http://169.254.169.254/']) {
    const answer = await server.call('POST', path, { presigned_url });
    assert.equal(answer.status, 400, String(presigned_url));
  }
});
