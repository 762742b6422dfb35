// SPDX-License-Identifier: Apache-2.0
//
// A job's profile and named threshold hold for the scores that they were found with. If the detector was replaced under its id
// since then, the job fails and says so; it is not tried again.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  type RecordingRequest,
  type RecordingStep,
  ScoresDiffer,
} from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { JobParameters } from '../../src/jobs/queue/job-text.js';
import { OperatingPoints } from '../../src/state/operating-points/operating-points.js';
import { recordingEnd, someDetector } from '../support/analyser-double.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { somePoint, someProfile } from '../support/stored-points.js';
import { testConfig } from '../support/test-server.js';

const { id: modelId, sha256: model_sha256, scoreFingerprint } = someDetector;
const bound = { model: modelId, model_sha256, fingerprint: scoreFingerprint };
const operatingPoints = OperatingPoints.of(
  [{ ...somePoint, ...bound, threshold: 0.9 }],
  [{ ...someProfile, ...bound }],
);

const named = [{ profile: 'studio' }, { threshold: 'strict' }, { profile: 'studio', threshold: 'strict' }];

async function ended(server: JobServer, fields: object) {
  const made = await server.call('POST', '/v1/jobs', { key: 'a', ...fields });
  assert.equal(made.status, 202, made.text);
  let { json } = made;
  await eventually(async () => {
    ({ json } = await server.call('GET', `/v1/jobs/${made.json.id}`));
    return json.finished_at !== null;
  }, 'it has ended');
  return json;
}

for (const fields of named) {
  test(`a job with ${JSON.stringify(fields)} fails once its detector has other scores`, async (t) => {
    const server = await startJobServer(t, {}, { operatingPoints });
    await server.store('a', Buffer.from('a recording'));
    const asked: RecordingRequest[] = [];
    let current = scoreFingerprint;
    // As the real one, which the last test shows.
    server.analyser.recordingSteps = async function* (request): AsyncGenerator<RecordingStep, void, void> {
      asked.push(request);
      if ((request.scoreFingerprint ?? current) !== current) throw new ScoresDiffer('others');
      yield recordingEnd(request.model);
    };
    assert.equal((await ended(server, fields)).state, 'succeeded');
    current = '9'.repeat(64);
    const { state, attempts, error } = await ended(server, fields);
    assert.deepEqual([state, attempts, error.key], ['failed', 1, 'SCORES_DIFFER']);
    assert.match(
      error.message,
      new RegExp(`other weights.* of ${modelId} than the loaded ones\\. Make it again`),
    );
    assert.equal((await ended(server, { threshold: 0.7 })).state, 'succeeded');
    const bindings = asked.map((request) => [request.model, request.scoreFingerprint]);
    const own = [modelId, scoreFingerprint];
    assert.deepEqual(bindings, [own, own, [modelId, undefined]]);
  });
}

test('the lines of a batch are bound alike', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 }, { operatingPoints });
  await server.call('POST', '/v1/batches', { lines: 'key\na\n', profile: 'studio' });
  const [row] = await server.database.query<{ parameters: string }>('SELECT parameters FROM jobs');
  const { boundTo } = JSON.parse(row?.parameters ?? '') as JobParameters;
  assert.deepEqual(boundTo, { modelId, scoreFingerprint });
});

test('the analyser refuses scores of another fingerprint before it reads the file', async (t) => {
  const modelsDir = path.join(packageDir, 'models');
  const analyser = await startPipeline({ ...testConfig, modelsDir }, new UploadArena(1 << 20).buffer);
  t.after(() => analyser.close());
  const [detector] = analyser.status().detectors;
  assert.ok(detector);
  const source = new MemoryByteSource(await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac')));
  const request = {
    ...{ source, model: detector.id, silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 600 },
    ...{ timeLimitMs: 60_000, signal: new AbortController().signal },
  };
  const stepsFor = async (fingerprint: string): Promise<number> => {
    let steps = 0;
    for await (const _ of analyser.analyseRecording({ ...request, scoreFingerprint: fingerprint })) steps++;
    return steps;
  };
  await assert.rejects(stepsFor('9'.repeat(64)), ScoresDiffer);
  assert.equal(source.readBytes, 0);
  assert.ok((await stepsFor(detector.scoreFingerprint)) > 0);
});
