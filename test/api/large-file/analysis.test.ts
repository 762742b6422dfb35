// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm, predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { monoWav, repeated } from '../../support/wav.js';

const PATH = '/v1/predict/large-file';
const RATE_HZ = 16_000;
const DURATION_S = 160;

const samplesOf = (name: string): Float32Array =>
  loadAddon().decode(readFileSync(path.join(packageDir, 'test/fixtures', name))).samples;
const voices = [samplesOf('human-lj-a.flac'), samplesOf('ai-kokoro.flac'), samplesOf('human-lj-b.flac')];
const conversation = Float32Array.from(voices.flatMap((samples) => [...samples]));
const whole = repeated(conversation, DURATION_S * RATE_HZ);
const upload = (samples: Float32Array) => formBody([fileEntry(monoWav(samples, RATE_HZ))]);

test('audio over the longest allowed is 413 with the measured and the allowed duration', async (t) => {
  const { port } = await startPipelineServer(t, { maxLargeFileDurationS: DURATION_S - 1 });
  const answer = await postForm(port, PATH, upload(whole));
  assert.equal(answer.status, 413);
  const [, measuredS] = /at least ([\d.]+) s long; at most 159 s/.exec(answer.json.message) ?? [];
  assert.ok(Number(measuredS) > 159 && Number(measuredS) <= 160, answer.json.message);
});

test('a large file over its time limit is 500, whatever the limit of others is', async (t) => {
  const { port } = await startPipelineServer(t, { largeFileTimeoutMs: 50 });
  const answer = await postForm(port, PATH, upload(whole));
  assert.equal(answer.status, 500);
  assert.match(answer.json.message, /did not finish within 50 ms/);
});

test('the limit of others does not hold for a large file', async (t) => {
  const { port } = await startPipelineServer(t, { analysisTimeoutMs: 50 });
  assert.equal((await postForm(port, PATH, upload(whole))).status, 200);
});

test('the verdicts of a whole file are those of its parts, where the windows coincide', async (t) => {
  const { port } = await startPipelineServer(t);
  const answer = await postForm(port, PATH, upload(whole));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.audio_duration, DURATION_S);

  const partS = 40;
  const expected: { index: number; start: number; end: number; confidence: number; result: string }[] = [];
  for (let fromS = 0; fromS < DURATION_S; fromS += partS) {
    const samples = whole.subarray(fromS * RATE_HZ, (fromS + partS) * RATE_HZ);
    const part = await predict(port, upload(samples));
    for (const { start, end, confidence, result } of part.json.segments) {
      expected.push({ index: expected.length, start: start + fromS, end: end + fromS, confidence, result });
    }
  }
  assert.equal(expected.length, DURATION_S / 5);
  // The rumble filter does not know the audio before a part: the first window of each differs slightly.
  const rounded = (segments: readonly { confidence: number }[]) =>
    segments.map((segment) => ({ ...segment, confidence: 0 }));
  assert.deepEqual(rounded(answer.json.segments), rounded(expected));
  for (const [i, { confidence }] of expected.entries()) {
    const tolerance = (i * 5) % partS === 0 ? 0.1 : 0;
    assert.ok(Math.abs(answer.json.segments[i].confidence - confidence) <= tolerance, `segment ${i}`);
  }
  const confidences = new Set(expected.map((segment) => JSON.stringify(segment)));
  assert.equal(confidences.size, expected.length);
});

test('large files leave a thread to short ones, however many there are', async (t) => {
  const { port, analyser } = await startPipelineServer(t, {
    maxInflightBytes: 64 << 20,
    maxLargeFileBytes: 12 << 20,
  });
  // Played at half speed: ten minutes.
  const body = formBody([fileEntry(monoWav(repeated(conversation, 600 * 8000), 8000))]);
  let started = 0;
  let done = 0;
  const areRunning = new Promise<void>((resolve) => {
    analyser.onStart = () => void started++;
    analyser.onProgress = () => started === 3 && resolve();
  });
  const large = Array.from({ length: 3 }, async () => {
    const { status } = await postForm(port, PATH, body);
    done++;
    return status;
  });
  await areRunning;
  const { status } = await predict(port, upload(whole.subarray(0, 5 * RATE_HZ)));
  assert.equal(status, 200);
  assert.equal(done, 0);
  assert.deepEqual(await Promise.all(large), [200, 200, 200]);
});
