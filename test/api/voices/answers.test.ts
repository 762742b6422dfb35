// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalysisRequest, SpeakerModelStatus } from '../../../src/analysis/analyser/analyser.js';
import { VoiceprintSpace } from '../../../src/analysis/voiceid/voiceprint-space.js';
import {
  someAnalysis,
  someDetector,
  someEmbedding,
  someSpeakerModel,
} from '../../support/analyser-double.js';
import { startTestServer, type TestServer } from '../../support/test-server.js';
import { audioEntry, enroll, field, vectorEntry, verify } from '../../support/voiceid-client.js';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const audio = audioEntry('some audio');
const embedding = someEmbedding.embedding as Float32Array;
const space = new VoiceprintSpace(someSpeakerModel.fingerprint);
const voiceprint = space.voiceprintOf(embedding);
const scored = (...scores: number[]) => ({
  ...someAnalysis,
  windows: scores.map((score, i) => ({ startS: i * 5, endS: i * 5 + 5, scores: [score] })),
});

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

async function startAuthentic(...args: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...args);
  server.analyser.answer = () => scored(0.1, 0.2);
  return server;
}

/** A voiceprint with this cosine to `voiceprint`. */
function voiceprintAt(cosine: number): Float32Array {
  const other = space.voiceprintOf(embedding.map((_, i) => Math.cos(i * i)));
  const share = other.reduce((sum, x, i) => sum + x * (voiceprint[i] as number), 0);
  const across = other.map((x, i) => x - share * (voiceprint[i] as number));
  const length = Math.sqrt(across.reduce((sum, x) => sum + x * x, 0));
  const sine = Math.sqrt(1 - cosine * cosine);
  return voiceprint.map((x, i) => cosine * x + (sine * (across[i] as number)) / length);
}

test('an AI-generated sample is 403 with a body of its own, for verify and for enroll', async (t) => {
  const { port, analyser, arena, metric } = await startTestServer(t);
  analyser.answer = () => scored(0.98, 0.966);
  for (const answer of [await verify(port, [audio, vectorEntry(voiceprint)]), await enroll(port, [audio])]) {
    assert.equal(answer.status, 403);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(Object.keys(answer.json), ['statusCode', 'message']);
    assert.equal(answer.json.statusCode, 403);
    const { detail, type, correlation_id, timestamp, ...rest } = answer.json.message;
    assert.deepEqual(rest, {});
    assert.equal(detail, 'The voice was detected as AI-generated with a confidence of 97.3%.');
    assert.equal(type, 'forbidden_error');
    assert.match(correlation_id, uuid);
    assert.equal(correlation_id, answer.headers['x-correlation-id']);
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000);
  }
  assert.equal(await metric('veravox_errors_total{key="AI_GENERATED_VOICE"}'), 2);
  assert.equal(arena.usedBytes, 0);
});

/** With a second look wherever the voice before the border ends. */
const clonedUntil = (borderS: number, windows: number) => {
  const scoreOf = ({ startS, endS }: { startS: number; endS: number }): number =>
    0.02 + 0.96 * Math.min(1, Math.max(0, (borderS - startS) / (endS - startS)));
  const windowAt = (startS: number, lengthS: number) => {
    const window = { startS, endS: startS + lengthS };
    return { ...window, scores: [scoreOf(window)] };
  };
  return {
    ...someAnalysis,
    durationS: 5 * windows,
    windows: Array.from({ length: windows }, (_, i) => windowAt(5 * i, 5)),
    closerWindows: Array.from({ length: Math.floor(borderS) + 1 }, (_, i) => windowAt(i, 2.5)),
  };
};

test('some seconds of human speech hide no cloned voice', async (t) => {
  const detectors = [{ ...someDetector, operatingPoint: 0.75 }];
  const { port, analyser } = await startTestServer(t, {}, { detectors });
  for (const [clonedS, windows] of [
    [10, 3],
    [10, 6],
    [5, 6],
  ] as const) {
    analyser.answer = () => clonedUntil(clonedS, windows);
    for (const answer of [
      await verify(port, [audio, vectorEntry(voiceprint)]),
      await enroll(port, [audio]),
    ]) {
      assert.equal(answer.status, 403, `${clonedS} s in ${5 * windows} s`);
      assert.match(answer.json.message.detail, / 98\.0%\.$/);
    }
  }
  const { port: flagging, analyser: lenient } = await startTestServer(
    t,
    { enrollAuthenticity: 'flag' },
    { detectors },
  );
  lenient.answer = () => clonedUntil(10, 3);
  assert.equal((await enroll(flagging, [audio])).headers['x-deepfake-flagged'], '0.98');
  analyser.answer = () => scored(0.02, 0.8, 0.8, 0.02);
  assert.equal((await enroll(port, [audio])).status, 403, 'ten seconds that do not stand out');
  analyser.answer = () => scored(0.02, 0.8, 0.69, 0.02);
  assert.equal((await enroll(port, [audio])).status, 200);
  analyser.answer = () => clonedUntil(0, 6);
  assert.equal((await verify(port, [audio, vectorEntry(voiceprint)])).status, 200);
});

for (const operatingPoint of [0.5, 0.6]) {
  test(`a score at a detector's operating point of ${operatingPoint} is AI-generated, one below is not`, async (t) => {
    const detectors = [{ ...someDetector, operatingPoint }];
    const { port, analyser } = await startTestServer(t, {}, { detectors });
    analyser.answer = () => scored(operatingPoint);
    const at = await verify(port, [audio, vectorEntry(voiceprint)]);
    assert.equal(at.status, 403);
    assert.match(at.json.message.detail, new RegExp(` ${operatingPoint * 100}\\.0%`));
    assert.equal((await enroll(port, [audio])).status, 403);
    analyser.answer = () => scored(operatingPoint - 0.000001);
    assert.equal((await verify(port, [audio, vectorEntry(voiceprint)])).status, 200);
    assert.equal((await enroll(port, [audio])).status, 200);
  });
}

test('with the policy flag an AI-generated sample is enrolled, and a header says so', async (t) => {
  const { port, analyser } = await startTestServer(t, { enrollAuthenticity: 'flag' });
  analyser.answer = () => scored(0.9);
  const flagged = await enroll(port, [audio]);
  assert.equal(flagged.status, 200);
  assert.equal(flagged.json.deepfake_checked, true);
  assert.equal(flagged.headers['x-deepfake-flagged'], '0.9');
  analyser.answer = () => scored(0.1);
  const authentic = await enroll(port, [audio]);
  assert.equal(authentic.headers['x-deepfake-flagged'], undefined);
  assert.equal(authentic.json.deepfake_checked, true);
  analyser.answer = () => scored(0.9);
  assert.equal((await verify(port, [audio, vectorEntry(voiceprint)])).status, 403, 'verify is not concerned');
});

test('with the policy skip nothing is checked at enrolment, and the answer says so', async (t) => {
  const { port, analyser } = await startTestServer(t, { enrollAuthenticity: 'skip' });
  analyser.answer = () => scored(0.9);
  const answer = await enroll(port, [audio]);
  assert.equal(answer.status, 200);
  assert.equal(answer.json.deepfake_checked, false);
  assert.equal(answer.headers['x-deepfake-flagged'], undefined);
  assert.deepEqual(
    analyser.requests.map((request) => request.model),
    [someSpeakerModel.id],
  );
  assert.equal((await verify(port, [audio, vectorEntry(voiceprint)])).status, 403, 'verify is not concerned');
});

test('an enrolment is answered in the contract’s shape, with the voiceprint bit by bit', async (t) => {
  const { port, arena } = await startAuthentic(t);
  const answer = await enroll(port, [audio, field('user_id', 'käyttäjä 7')]);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json), [
    'embedding',
    'processing_time',
    'model_version',
    'deepfake_checked',
  ]);
  assert.deepEqual(Float32Array.from(answer.json.embedding as number[], Math.fround), voiceprint);
  assert.ok(answer.json.processing_time > 0 && answer.json.processing_time < 10);
  assert.equal(answer.json.model_version, 'voiceprint-1-2026-11-22');
  assert.equal(answer.json.deepfake_checked, true);
  assert.match(String(answer.headers['server-timing']), /^receive;.*queue;.*decode;.*features;.*inference;/);
  assert.equal(arena.usedBytes, 0);
});

test('a verification is answered in the contract’s shape', async (t) => {
  const { port, arena } = await startAuthentic(t);
  const answer = await verify(port, [audio, vectorEntry(voiceprint), field('user_id', '')]);
  assert.equal(answer.status, 200);
  const { processing_time, ...rest } = answer.json;
  assert.ok(processing_time > 0 && processing_time < 10);
  assert.deepEqual(rest, {
    is_match: true,
    similarity_score: Math.round(sigmoid(5) * 1e6) / 1e6,
    confidence_score: Math.round(((Math.round(sigmoid(5) * 1e6) / 1e6 - 0.6) / 0.4) * 1e6) / 1e6,
    model_version: 'voiceprint-1-2026-11-22',
    deepfake_score: null,
  });
  assert.deepEqual(Object.keys(answer.json), [
    'is_match',
    'similarity_score',
    'confidence_score',
    'processing_time',
    'model_version',
    'deepfake_score',
  ]);
  assert.equal(arena.usedBytes, 0);
});

test('what enroll returned is taken by verify as JSON and as base64, scaled or not, with the same answer', async (t) => {
  const { port } = await startAuthentic(t);
  const { embedding: enrolled } = (await enroll(port, [audio])).json as { embedding: number[] };
  const base64 = Buffer.from(Float32Array.from(enrolled).buffer).toString('base64');
  const forms = [
    vectorEntry(enrolled),
    field('voice_vector', base64),
    vectorEntry(enrolled.map((x) => x * 1000)),
    vectorEntry(enrolled.map((x) => Number(x.toFixed(6)))),
  ];
  for (const form of forms) {
    const { similarity_score, is_match } = (await verify(port, [audio, form])).json;
    assert.ok(Math.abs(similarity_score - sigmoid(5)) < 1e-5);
    assert.equal(is_match, true);
  }
});

test('similarity is the calibrated cosine; a match begins at the operating point; confidence is the distance from it', async (t) => {
  const { port } = await startAuthentic(t);
  // sigmoid(10 * cosine - 5) = 0.6 at a cosine of about 0.54055.
  const cases: readonly [cosine: number, isMatch: boolean][] = [
    [-0.5, false],
    [0.2, false],
    [0.5404, false],
    [0.5407, true],
    [0.9, true],
  ];
  for (const [cosine, isMatch] of cases) {
    const { json } = await verify(port, [audio, vectorEntry(voiceprintAt(cosine))]);
    const expected = sigmoid(10 * cosine - 5);
    assert.ok(Math.abs(json.similarity_score - expected) < 1e-5, `at ${cosine}: ${json.similarity_score}`);
    assert.equal(json.is_match, isMatch, `at ${cosine}`);
    const distance = isMatch ? (expected - 0.6) / 0.4 : (0.6 - expected) / 0.6;
    assert.ok(Math.abs(json.confidence_score - distance) < 1e-4, `at ${cosine}: ${json.confidence_score}`);
  }
});

test('strangers keep six significant digits, and a header has the cosine', async (t) => {
  const steep: SpeakerModelStatus = { ...someSpeakerModel, calibration: { scale: 40, bias: -20 } };
  const { port } = await startAuthentic(t, {}, { speakerModels: [steep] });
  const at = async (cosine: number) => {
    const { json, headers } = await verify(port, [audio, vectorEntry(voiceprintAt(cosine))]);
    return { similarity: json.similarity_score as number, header: String(headers['x-voice-cosine']) };
  };
  const cosines = [-0.9, -0.5, -0.1, -0.0999, 0, 0.3, 0.5, 0.7, 1];
  const answers = await Promise.all(cosines.map(at));
  for (const [i, { similarity, header }] of answers.entries()) {
    const cosine = cosines[i] as number;
    assert.match(header, /^-?[01]\.\d{6}$/);
    assert.ok(Math.abs(Number(header) - cosine) < 2e-6, `${header} for ${cosine}`);
    const expected = sigmoid(40 * Number(header) - 20);
    assert.ok(Math.abs(similarity / expected - 1) < 1e-4, `${similarity} for ${cosine}`);
    assert.equal(similarity, Number(similarity.toPrecision(6)));
    assert.ok(similarity > (answers[i - 1]?.similarity ?? 0), `${similarity} for ${cosine}`);
  }
});

test('an enrolment and a refused verification have no cosine', async (t) => {
  const { port, analyser } = await startAuthentic(t);
  assert.equal((await enroll(port, [audio])).headers['x-voice-cosine'], undefined);
  analyser.answer = () => scored(0.9);
  const refused = await verify(port, [audio, vectorEntry(voiceprint)]);
  assert.equal(refused.status, 403);
  assert.equal(refused.headers['x-voice-cosine'], undefined);
});

test('the match threshold of the configuration goes before the model’s, its ends included', async (t) => {
  const at = async (matchThreshold: number, cosine: number) => {
    const { port } = await startAuthentic(t, { matchThreshold });
    return (await verify(port, [audio, vectorEntry(voiceprintAt(cosine))])).json;
  };
  assert.equal((await at(0.995, 0.9)).is_match, false);
  assert.equal((await at(0.01, 0.2)).is_match, true);
  const zero = await at(0, 0.2);
  assert.equal(zero.is_match, true);
  assert.ok(Math.abs(zero.confidence_score - zero.similarity_score) < 1e-6);
  const one = await at(1, 0.9);
  assert.equal(one.is_match, false);
  assert.ok(Math.abs(one.confidence_score - (1 - one.similarity_score)) < 1e-6);
});

test('the configured speaker model is used, else the first', async (t) => {
  const second: SpeakerModelStatus = { ...someSpeakerModel, id: 'voiceprint-2', fingerprint: '2'.repeat(64) };
  const speakerModels = [someSpeakerModel, second];
  const { port: withFirst } = await startAuthentic(t, {}, { speakerModels });
  assert.equal((await enroll(withFirst, [audio])).json.model_version, someSpeakerModel.id);
  const { port, analyser } = await startAuthentic(t, { speakerModel: 'voiceprint-2' }, { speakerModels });
  assert.equal((await enroll(port, [audio])).json.model_version, 'voiceprint-2');
  assert.ok(analyser.requests.some((request) => request.model === 'voiceprint-2'));
});

test('both analyses get the same file, limits and windows', async (t) => {
  const { port, analyser } = await startAuthentic(t, { maxVoiceidDurationS: 77 });
  await enroll(port, [audio]);
  await verify(port, [audio, vectorEntry(voiceprint)]);
  assert.equal(new Set(analyser.hashes).size, 1);
  const seen = analyser.requests.map(({ model, signal, region, ...limits }) => limits);
  const common = { silenceThresholdPercent: 80, maxDurationS: 77, owner: 'key-1' };
  assert.deepEqual(seen, [
    { ...common, minDurationS: 10 },
    { ...common, minDurationS: 10, needsSecondLook: true },
    { ...common, minDurationS: 1 },
    { ...common, minDurationS: 1, needsSecondLook: true },
  ]);
});

test('a window that the detector has not scored is not in the voiceprint: the speaker model hears the others again', async (t) => {
  const { port, analyser } = await startAuthentic(t);
  const later = { startS: 10, endS: 15 };
  analyser.answerVoice = ({ windows }) =>
    windows === undefined
      ? { ...someEmbedding, embedding: embedding.map((x) => -x), windows: [...someEmbedding.windows, later] }
      : { ...someEmbedding, windows };
  const answer = await enroll(port, [audio]);
  assert.deepEqual(Float32Array.from(answer.json.embedding), voiceprint);
  const { model, silenceThresholdPercent, windows } = analyser.requests.at(-1) as AnalysisRequest;
  assert.deepEqual([model, silenceThresholdPercent], [someSpeakerModel.id, 100]);
  assert.deepEqual(windows, scored(0.1, 0.2).windows);
  assert.equal(analyser.requests.length, 3);
});

test('where no window has a fifth of speech, both analyses look at every window with any', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const thresholds: Record<string, number[]> = {};
  const note = ({ model, silenceThresholdPercent }: { model: string; silenceThresholdPercent: number }) => {
    thresholds[model] = [...(thresholds[model] ?? []), silenceThresholdPercent];
    return silenceThresholdPercent > 80;
  };
  analyser.answer = (request) => (note(request) ? scored(0.7) : scored());
  analyser.answerVoice = (request) =>
    note(request) ? someEmbedding : { ...someEmbedding, embedding: undefined, windows: [] };
  const answer = await verify(port, [audio, vectorEntry(voiceprint)]);
  assert.equal(answer.status, 403, 'the sparse speech was checked, too');
  assert.deepEqual(Object.values(thresholds), [
    [80, 99.9],
    [80, 99.9],
  ]);
});

test('audio, windows and the model are recorded once per request', async (t) => {
  const { port, log, metric } = await startAuthentic(t);
  await verify(port, [audio, vectorEntry(voiceprint)]);
  const line = log.find((candidate) => candidate.route === '/v1/voiceid/verify');
  assert.equal(line?.model, 'voiceprint-1-2026-11-22');
  assert.equal(line?.audioS, 12);
  assert.equal(line?.scoredWindows, 3);
  assert.equal(await metric('veravox_audio_seconds_total'), 12);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/voiceid/verify",status="200"}'), 1);
  assert.doesNotMatch(JSON.stringify(log), /voice_vector|embedding/);
});
