// SPDX-License-Identifier: Apache-2.0
//
// Embeddings through the real threads, by a speaker model without training: the long-term average spectrum.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Analyser, AnalysisRequest, VoiceEmbedding } from '../../../src/analysis/analyser/analyser.js';
import { UploadArena } from '../../../src/analysis/memory/arena.js';
import { fingerprintOf } from '../../../src/analysis/models/fingerprint.js';
import { loadManifest } from '../../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../../src/analysis/models/score-fingerprint.js';
import { type PipelineConfig, startPipeline } from '../../../src/analysis/pipeline/pipeline.js';
import { dot } from '../../../src/analysis/voiceid/vectors.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import type { ServiceError } from '../../../src/base/errors/service-error.js';
import { temporaryFolder } from '../../support/cli.js';
import { averageSpectrum, writeModels } from '../../support/speaker-models.js';
import { monoWav, repeated } from '../../support/wav.js';

const fixture = (name: string) => readFile(path.join(packageDir, 'test/fixtures', name));
const config: PipelineConfig = {
  modelsDir: '',
  device: 'cpu',
  prepareThreads: 2,
  scoringThreads: 2,
  maxBatchWindows: 1,
  batchWaitMs: 0,
  queueTimeoutMs: 30_000,
  analysisTimeoutMs: 60_000,
};
const speaker = averageSpectrum();
const modelId = speaker.entry.id;

const arena = new UploadArena(64 << 20);
let modelsDir: string;
let analyser: Analyser;
let speech: Uint8Array;
let samples: Float32Array;
let longSpeech: Uint8Array;

before(async () => {
  modelsDir = writeModels(await mkdtemp(path.join(os.tmpdir(), 'veravox-test-')), [speaker]);
  analyser = await startPipeline({ ...config, modelsDir }, arena.buffer);
  speech = await fixture('human-lj-a.flac');
  ({ samples } = loadAddon().decode(speech));
  longSpeech = monoWav(repeated(samples, 16000 * 5 * 80), 16000);
});

after(async () => {
  await analyser.close();
  await rm(modelsDir, { recursive: true });
});

async function embed(
  file: Uint8Array,
  overrides: Partial<AnalysisRequest> = {},
  by: Analyser = analyser,
): Promise<VoiceEmbedding> {
  const region = arena.reserve(file.length);
  assert.ok(region, 'the arena is large enough for this test');
  arena.bytes.set(file, region.offset);
  const request = {
    region: { offset: region.offset, length: file.length },
    model: modelId,
    silenceThresholdPercent: 80,
    minDurationS: 1,
    maxDurationS: 600,
    signal: new AbortController().signal,
    ...overrides,
  };
  try {
    return await by.embed(request);
  } finally {
    arena.release(region);
  }
}

function rejectsWith(promise: Promise<unknown>, key: string, pattern = /./): Promise<void> {
  return assert.rejects(promise, (error: ServiceError) => {
    assert.equal(error.key, key, String(error));
    assert.match(error.message, pattern);
    return true;
  });
}

function concatenated(...parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let filled = 0;
  for (const part of parts) {
    whole.set(part, filled);
    filled += part.length;
  }
  return whole;
}

function vectorOf({ embedding }: VoiceEmbedding): Float32Array {
  assert.ok(embedding);
  return embedding;
}

/** A separate pipeline, closed after the test. */
async function startOther(
  t: TestContext,
  models: Parameters<typeof averageSpectrum>[0],
  overrides: Partial<PipelineConfig> = {},
): Promise<Analyser> {
  const folder = writeModels(temporaryFolder(t), [averageSpectrum(models)]);
  const other = await startPipeline(
    { ...config, scoringThreads: 1, modelsDir: folder, ...overrides },
    arena.buffer,
  );
  t.after(() => other.close());
  return other;
}

test('a detector makes no embedding, and a speaker model no verdict', async () => {
  const [detector] = analyser.status().models;
  await rejectsWith(embed(speech, { model: detector as string }), 'FIELD_INVALID', /one of average-spectrum/);
  const request = { silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 60 };
  const signal = new AbortController().signal;
  const region = { offset: 0, length: 1 };
  await rejectsWith(
    analyser.analyse({ ...request, signal, region, model: modelId }),
    'FIELD_INVALID',
    /apollo/,
  );
});

test('a model whose output is not finite fails the request, and never gives an embedding', async (t) => {
  // The features are normalised to mean 0: some averages are negative and have no logarithm.
  const broken = await startOther(t, { operators: ['Log'] });
  await rejectsWith(embed(speech, {}, broken), 'NON_FINITE_OUTPUT', /average-spectrum/);
});

test('an embedding that is zero throughout has no direction and fails the request', async (t) => {
  const broken = await startOther(t, { operators: ['Relu', 'Neg', 'Relu'] });
  await rejectsWith(embed(speech, {}, broken), 'NON_FINITE_OUTPUT');
});

test('a speaker model that does not give 256 numbers stops the start, and the message says so', async (t) => {
  await assert.rejects(
    startOther(t, { bands: 128 }),
    /average-spectrum: expected 256 numbers per input from a speaker model.*has 128/,
  );
});

test('a manifest without any detector, or with a speaker model that gives a logit, is refused', async (t) => {
  const folder = writeModels(temporaryFolder(t), [speaker]);
  const file = path.join(folder, 'manifest.json');
  const { models } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const write = (entries: unknown[]) =>
    fs.writeFileSync(file, JSON.stringify({ version: 1, models: entries }));
  write([models[1]]);
  await assert.rejects(loadManifest(folder), /at least one model with the task detection/);
  write([models[0], { ...models[1], output: { ...models[1].output, kind: 'logit' } }]);
  await assert.rejects(loadManifest(folder), /models\[1\]\.output\.kind/);
  write([models[0], { ...models[1], task: 'translation' }]);
  await assert.rejects(loadManifest(folder), /models\[1\]/);
});

test('a file that is no audio, too short or too long is refused as for a detector', async () => {
  await rejectsWith(embed(Buffer.from('<!doctype html>')), 'UNSUPPORTED_FORMAT');
  await rejectsWith(embed(speech, { minDurationS: 10 }), 'AUDIO_TOO_SHORT', /8\.645 s.*10 s/);
  await rejectsWith(embed(speech, { maxDurationS: 2 }), 'AUDIO_TOO_LONG');
});

test('what is aborted on its way rejects with the reason, and others do not notice', async () => {
  const alone = await embed(speech);
  const abort = new AbortController();
  const reason = new Error('gone');
  const abandoned = embed(longSpeech, { signal: abort.signal, onProgress: () => abort.abort(reason) });
  const [other] = await Promise.all([embed(speech), assert.rejects(abandoned, reason)]);
  assert.deepEqual(other.embedding, alone.embedding);
});

test('an embedding over its time limit ends', async (t) => {
  const hasty = await startOther(t, {}, { analysisTimeoutMs: 30 });
  await rejectsWith(embed(longSpeech, {}, hasty), 'ANALYSIS_TIMEOUT');
});

test('speaker models are listed apart from detectors, with what a caller has to know', () => {
  const { models, detectors, speakerModels } = analyser.status();
  assert.ok(!models.includes(modelId));
  assert.deepEqual(
    detectors.flatMap(({ id, aliases }) => [...aliases, id]),
    models,
  );
  const { calibration, operating_point: operatingPoint, sha256 } = speaker.entry;
  const fingerprint = fingerprintOf(speaker.entry);
  const scoreFingerprint = scoreFingerprintOf(speaker.entry);
  assert.deepEqual(speakerModels, [
    { id: modelId, aliases: [], sha256, scoreFingerprint, fingerprint, calibration, operatingPoint },
  ]);
});

test('the fingerprint of scores follows the calibration as well, and still no names or figures', () => {
  const { entry } = speaker;
  const own = scoreFingerprintOf(entry);
  const { sha256, features, calibration } = entry;
  for (const change of [
    { id: 'renamed' },
    { operating_point: 0.9 },
    { metrics: { eer: 0.1 } },
    { file: 'b.onnx' },
  ]) {
    assert.equal(scoreFingerprintOf({ ...entry, ...change }), own, Object.keys(change)[0]);
  }
  assert.notEqual(scoreFingerprintOf({ ...entry, sha256: [...sha256].reverse().join('') }), own);
  assert.notEqual(scoreFingerprintOf({ ...entry, features: { ...features, input_gain: 2 } }), own);
  assert.notEqual(scoreFingerprintOf({ ...entry, calibration: { ...calibration, bias: 1 } }), own);
});

test('the fingerprint follows the weights and the features, not names or the order of members', () => {
  const { entry } = speaker;
  const own = fingerprintOf(entry);
  const reordered = Object.fromEntries(Object.entries(entry.features).reverse()) as typeof entry.features;
  assert.equal(fingerprintOf({ ...entry, features: reordered }), own);
  assert.equal(fingerprintOf({ ...entry, id: 'renamed', operating_point: 0.9 }), own);
  assert.notEqual(fingerprintOf({ ...entry, sha256: '0'.repeat(64) }), own);
  assert.notEqual(fingerprintOf({ ...entry, short_window: 'zero_pad' }), own);
  const otherFeatures = { ...entry.features, input_gain: 2 };
  assert.notEqual(fingerprintOf({ ...entry, features: otherFeatures }), own);
});

test('an embedding has 256 numbers and length 1, with times and seconds of speech', async () => {
  const voice = await embed(speech);
  const vector = vectorOf(voice);
  assert.equal(vector.length, 256);
  assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-6);
  assert.equal(voice.windows.length, 2);
  assert.ok(voice.speechS > 7 && voice.speechS < voice.durationS);
  for (const timeMs of Object.values(voice.timesMs)) assert.ok(timeMs >= 0);
  assert.ok(voice.timesMs.inference > 0);
});

test('the embedding is the mean direction of the windows with speech; the others are left out', async () => {
  const [first, second] = [samples.subarray(0, 80_000), samples.subarray(58_320, 138_320)];
  const windows = await Promise.all([first, second].map((part) => embed(monoWav(part, 16000))));
  const joined = await embed(monoWav(concatenated(first, new Float32Array(80_000), second), 16000));
  assert.equal(joined.windows.length, 2);
  assert.equal(joined.skipped.length, 1);
  const [a, b] = windows.map(vectorOf) as [Float32Array, Float32Array];
  const mean = a.map((x, i) => x + (b[i] as number));
  const length = Math.sqrt(dot(mean, mean));
  vectorOf(joined).forEach((x, i) => {
    assert.ok(Math.abs(x - (mean[i] as number) / length) < 1e-5, `number ${i}`);
  });
});

test('silence gives no embedding', async () => {
  const voice = await embed(monoWav(new Float32Array(16000 * 12), 16000));
  assert.equal(voice.embedding, undefined);
  assert.equal(voice.speechS, 0);
});

test('the same bytes give the same embedding, alone, among many, and beside detection', async () => {
  const alone = vectorOf(await embed(speech));
  const together = await Promise.all(Array.from({ length: 24 }, () => embed(speech)));
  for (const voice of together) assert.deepEqual(voice.embedding, alone);
});

test('more windows than there are slots, and batches, give the embedding of single windows', async (t) => {
  const batching = await startOther(t, {}, { maxBatchWindows: 8, batchWaitMs: 5 });
  const single = await embed(longSpeech);
  assert.equal(single.windows.length, 80);
  const batched = vectorOf(await embed(longSpeech, {}, batching));
  assert.ok(dot(batched, vectorOf(single)) > 1 - 1e-6);
});
