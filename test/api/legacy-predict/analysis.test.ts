// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { monoWav, repeated } from '../../support/wav.js';

const RATE_HZ = 16_000;
const fixture = (name: string): Buffer => readFileSync(path.join(packageDir, 'test/fixtures', name));
const clip = fixture('human-lj-a.flac');
const speech = repeated(loadAddon().decode(clip).samples, 30 * RATE_HZ);

test('from real audio: the shortest, the number of chunks, and chunks without speech', async (t) => {
  const { port } = await startPipelineServer(t);
  const post = (samples: Float32Array) =>
    postForm(port, '/v0/predict', formBody([fileEntry(monoWav(samples, RATE_HZ))]));

  const tooShort = await post(speech.subarray(0, 3 * RATE_HZ - 1));
  assert.equal(tooShort.status, 400);
  assert.match(tooShort.json.message, /^The audio is 2\.999 s long; at least 3 s are required\.$/);
  const silence = await post(new Float32Array(12 * RATE_HZ));
  assert.equal(silence.status, 422);

  for (const [durationS, chunks] of [
    [3, 1],
    [5, 1],
    [12, 3],
    [30, 6],
  ] as const) {
    const { status, json } = await post(speech.subarray(0, durationS * RATE_HZ));
    assert.equal(status, 200);
    assert.equal(json.audio_duration, durationS);
    assert.equal(json.predictions.length, chunks);
    assert.deepEqual(json.error, new Array(chunks).fill(null));
    for (const label of json.predictions) assert.match(label, /^(fake|real)$/);
    for (const probability of json.global_probability) assert.ok(probability >= 0 && probability <= 1);
    assert.equal(json.global_probability.length, chunks);
  }

  const paused = Float32Array.from(speech.subarray(0, 22 * RATE_HZ)).fill(0, 5 * RATE_HZ, 15 * RATE_HZ);
  const { json } = await post(paused);
  assert.equal(json.predictions.length, 5);
  assert.deepEqual(
    json.error.map((sentence: string | null) => sentence === null),
    [true, false, false, true, true],
  );
  assert.match(
    json.error[1],
    /^Not analysed from 5 s to 15 s: \d+\.\d percent is not speech; the limit is 80 percent\.$/,
  );
  assert.deepEqual(json.global_probability.slice(1, 3), [0, 0]);
});

test('audio that cannot be decoded is reported for the chunk that it is missing in', async (t) => {
  const { port } = await startPipelineServer(t);
  const damaged = Buffer.from(fixture('human-lj-a.flac'));
  const at = Math.floor(damaged.length * 0.25);
  damaged.fill(0xff, at, at + 2000);
  const { status, json } = await postForm(port, '/v0/predict', formBody([fileEntry(damaged)]));
  assert.equal(status, 200);
  assert.equal(json.predictions.length, 2);
  assert.match(
    json.error[0],
    /^Damaged audio was skipped near 1\.\d+ s; the rest was analysed\. Not analysed: \d{4} bytes after 1\.\d+ s, damaged data\.$/,
  );
  assert.equal(json.error[1], null);
});
