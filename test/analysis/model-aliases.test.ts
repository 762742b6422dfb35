// SPDX-License-Identifier: Apache-2.0
//
// The names of the interface are aliases. Answers give the requested name; header, log, audit and operators' pages give the
// model that answered.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { OperatingPoints } from '../../src/state/operating-points/operating-points.js';
import { someAnalysis, someDetector, someEmbedding, someSpeakerModel } from '../support/analyser-double.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { type Answer, postForm, predict, request } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ADMIN_API_KEY, startTestServer, testConfig } from '../support/test-server.js';
import { tinyEntry, writeManifest } from '../support/tiny-models.js';

const large = { ...someDetector, id: 'detector-large', aliases: ['apollo-4-5-2026-03-26'] };
const medium = { ...someDetector, id: 'detector-medium', aliases: ['apollo-4-2026-01-16'] };
const small = { ...someDetector, id: 'detector-small', aliases: ['apollo-4-2025-10-20'] };
const detectors = [large, medium, small];
const largeFile = new Uint8Array(5_000_000);

/** A server whose detectors have the names of the interface as aliases, and the records of its requests. */
async function start(t: TestContext, operatingPoints = OperatingPoints.of([])) {
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await startTestServer(t, {}, { detectors, recorders: [recorder], operatingPoints });
  server.analyser.answer = ({ model }) => {
    const detector = detectors.find(({ id, aliases }) => id === model || aliases.includes(model));
    assert.ok(detector);
    return { ...someAnalysis, modelId: detector.id };
  };
  return { ...server, records };
}

const field = (name: string, content: string) => ({ name, content });
const told = ({ json, headers }: Answer): unknown[] => [json.model, headers['x-model-ids']];

test('an answer says the name that was asked for, its header the exact id', async (t) => {
  const { port } = await start(t);
  const askFor = async (...model: string[]) =>
    told(await predict(port, formBody([fileEntry('x'), ...model.map((name) => field('model', name))])));
  assert.deepEqual(await askFor(), ['apollo-4-5-2026-03-26', 'detector-large']);
  assert.deepEqual(await askFor('apollo-4-5-2026-03-26'), ['apollo-4-5-2026-03-26', 'detector-large']);
  assert.deepEqual(await askFor('apollo-4-2026-01-16'), ['apollo-4-2026-01-16', 'detector-medium']);
  assert.deepEqual(await askFor('detector-medium'), ['detector-medium', 'detector-medium']);
});

test('large files and v0 do so, too', async (t) => {
  const { port } = await start(t);
  const path = '/v1/predict/large-file';
  const whole = await postForm(port, path, formBody([fileEntry(largeFile)]));
  assert.deepEqual(told(whole), ['apollo-4-2025-10-20', 'detector-small']);
  const exact = await postForm(
    port,
    path,
    formBody([field('model', 'detector-small'), fileEntry(largeFile)]),
  );
  assert.deepEqual(told(exact), ['detector-small', 'detector-small']);
  const other = await postForm(
    port,
    path,
    formBody([field('model', 'detector-large'), fileEntry(largeFile)]),
  );
  assert.equal(other.status, 400);
  assert.match(other.json.message, /^Expected one of apollo-4-2025-10-20, detector-small for model but/);
  for (const legacy of ['/v0/predict', '/predict']) {
    const answer = await postForm(port, legacy, formBody([fileEntry('x')]));
    assert.deepEqual(told(answer), ['apollo-4-2025-10-20', 'detector-small'], legacy);
  }
});

test('the name of large files is refused by /v1/predict, whatever model answers to it', async (t) => {
  const { port, analyser } = await start(t);
  const answer = await predict(port, formBody([fileEntry('x'), field('model', 'apollo-4-2025-10-20')]));
  assert.equal(answer.status, 400);
  assert.match(
    answer.json.message,
    /^Expected one of apollo-4-5-2026-03-26, apollo-4-2026-01-16, detector-large, detector-medium, detector-small for model/,
  );
  assert.equal(answer.headers['x-model-ids'], undefined);
  assert.equal(analyser.requests.length, 0);
});

test('voice identity names both of its models, also in the refusal of an AI-generated voice', async (t) => {
  const { port, analyser, records } = await start(t);
  const sample = formBody([{ ...fileEntry('x'), name: 'audio_file' }]);
  analyser.answerVoice = () => someEmbedding;
  const refused = await postForm(port, '/v1/voiceid/enroll', sample);
  assert.equal(refused.status, 403);
  const both = `${someSpeakerModel.id}, detector-large`;
  assert.equal(refused.headers['x-model-ids'], both);
  analyser.answer = () => ({
    ...someAnalysis,
    modelId: 'detector-large',
    windows: [{ startS: 0, endS: 10, scores: [0.1] }],
  });
  const enrolled = await postForm(port, '/v1/voiceid/enroll', sample);
  assert.equal(enrolled.status, 200, enrolled.text);
  assert.equal(enrolled.json.model_version, someSpeakerModel.id);
  assert.equal(enrolled.headers['x-model-ids'], both);
  assert.deepEqual(
    records.map(({ model, modelIds }) => [model, modelIds?.join(', ')]),
    [
      [someSpeakerModel.id, both],
      [someSpeakerModel.id, both],
    ],
  );
});

test('the log and the records of a request have both names', async (t) => {
  const { port, log, records } = await start(t);
  await predict(port, formBody([fileEntry('x')]));
  const expected = ['apollo-4-5-2026-03-26', ['detector-large']];
  const line = log.find(({ route }) => route === '/v1/predict');
  assert.deepEqual([line?.model, line?.modelIds], expected);
  assert.deepEqual([records[0]?.model, records[0]?.modelIds], expected);
});

test('operators see which model answers to which name', async (t) => {
  const { port, metric } = await start(t);
  const { json } = await request(port, '/readyz', { headers: { 'x-api-key': ADMIN_API_KEY } });
  assert.deepEqual(json.aliases, {
    'apollo-4-5-2026-03-26': 'detector-large',
    'apollo-4-2026-01-16': 'detector-medium',
    'apollo-4-2025-10-20': 'detector-small',
  });
  assert.deepEqual(json.models, [...Object.keys(json.aliases), ...Object.values(json.aliases)]);
  const series = 'veravox_model_info{task="detection",model="apollo-4-2026-01-16",id="detector-medium"}';
  assert.equal(await metric(series), 1);
});

test('an operating point belongs to exact weights, by whichever name it was found', async (t) => {
  const found = {
    name: 'strict',
    model: large.id,
    model_sha256: large.sha256,
    fingerprint: large.scoreFingerprint,
    threshold: 0.975,
    target: { rate: 'fpr', value: 0.01 },
    measured: { fpr: null, fnr: null },
    list: 'calls.csv',
    where: [],
    silence_threshold: 80,
    created_at: '2026-11-21T12:00:00.000Z',
  } as const;
  // As written by version 0.1.0, whose ids are aliases today: one of these weights, one of others.
  const byAlias = { ...found, name: 'older', model: 'apollo-4-5-2026-03-26', threshold: 0.99 };
  const otherWeights = {
    ...byAlias,
    name: 'strict',
    model_sha256: '9'.repeat(64),
    fingerprint: '9'.repeat(64),
  };
  const points = OperatingPoints.of([otherWeights, found, byAlias, { ...otherWeights, name: 'oldest' }]);
  const { port } = await start(t, points);
  const judged = async (threshold: string, model: string) =>
    (await predict(port, formBody([fileEntry('x'), field('threshold', threshold), field('model', model)])))
      .json;
  for (const model of ['detector-large', 'apollo-4-5-2026-03-26']) {
    assert.equal((await judged('strict', model)).global.result, 'spoofed');
    assert.equal((await judged('older', model)).global.result, 'bonafide');
    assert.match(
      (await judged('oldest', model)).message,
      /which was calibrated with other weights of this model/,
    );
  }
  assert.match(
    (await judged('strict', 'detector-medium')).message,
    /point of detector-medium \(it has none\)/,
  );
  assert.deepEqual(
    points.unusable(detectors).map(({ name, model }) => [name, model]),
    [
      ['strict', 'apollo-4-5-2026-03-26'],
      ['oldest', 'apollo-4-5-2026-03-26'],
    ],
  );
});

test('the pipeline tells which model an alias stood for', async (t) => {
  const modelsDir = temporaryFolder(t);
  const aliases = ['apollo-4-5-2026-03-26', 'apollo-4-2025-10-20'];
  writeManifest(modelsDir, [{ ...tinyEntry(modelsDir, 'own-model', 'high'), aliases }]);
  const clip = await readFile(path.join(packageDir, 'models/known-answers/human-vctk-p237.flac'));
  const memory = new SharedArrayBuffer(clip.length);
  new Uint8Array(memory).set(clip);
  const analyser = await startPipeline({ ...testConfig, modelsDir }, memory);
  t.after(() => analyser.close());
  for (const model of [...aliases, 'own-model']) {
    const { modelId } = await analyser.analyse({
      region: { offset: 0, length: clip.length },
      model,
      silenceThresholdPercent: 100,
      minDurationS: 1,
      maxDurationS: 60,
      signal: new AbortController().signal,
    });
    assert.equal(modelId, 'own-model');
  }
});
