// SPDX-License-Identifier: Apache-2.0
//
// A voice against a list: refusals, order and numbers as in NumPy, and no delay of the server by a list of the largest size.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { VeravoxClient } from '../../../client/src/index.js';
import type { SpeakerModelStatus } from '../../../src/analysis/analyser/analyser.js';
import { VoiceprintList } from '../../../src/analysis/voiceid/voiceprint-list.js';
import { VoiceprintSpace } from '../../../src/analysis/voiceid/voiceprint-space.js';
import { someAnalysis, someEmbedding, someSpeakerModel } from '../../support/analyser-double.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';
import { audioEntry, field, postVoice } from '../../support/voiceid-client.js';

const strangers = { mean: 0.2157, sd: 0.246 };
const model = { ...someSpeakerModel, strangers };
const space = new VoiceprintSpace(model.fingerprint);
const sample = space.voiceprintOf(someEmbedding.embedding as Float32Array);

/** A voiceprint that differs from the sample in proportion to its share of something else. */
function voiceprint(seed: number, share: number): Float32Array {
  const other = Float32Array.from({ length: 256 }, (_, i) => Math.sin((seed + 3) * (i + 1) ** 1.4));
  const away = space.voiceprintOf(other);
  return space.voiceprintOf(sample.map((x, i) => (1 - share) * x + share * (away[i] as number)));
}

const base64 = (vector: Float32Array): string =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');

async function startIdentify(t: TestContext, speaker: SpeakerModelStatus = model) {
  const server = await startTestServer(t, {}, { speakerModels: [speaker] });
  const { analyser } = server;
  analyser.answer = () => ({ ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.1] }] });
  return server;
}
const listEntry = (list: unknown) =>
  field('voiceprints', typeof list === 'string' ? list : JSON.stringify(list));
const identify = (port: number, list: unknown, ...more: ReturnType<typeof field>[]) =>
  postVoice(port, '/v1/voiceid/search', [audioEntry('x'), listEntry(list), ...more]);

const one = { id: 'a', voice_vector: Array.from(sample) };

test('a wrong list is refused with what is wrong with it, before the voice is looked at', async (t) => {
  const { port, analyser, arena } = await startIdentify(t);
  const foreign = { id: 'f', voice_vector: Array.from({ length: 256 }, (_, i) => Math.cos(i * i)) };
  const wrong: readonly [list: unknown, message: RegExp][] = [
    ['', /for voiceprints but received no \[ at its beginning/],
    ['[]', /received an empty list/],
    [[one, { id: 'b', voice_vector: [1] }], /received entry 1: 1 numbers instead of 256/],
    [[one, { voice_vector: one.voice_vector }], /received entry 1: no id/],
    [[one, foreign], /Entry 1 of voiceprints was not made by voiceprint-1/],
    [`[${JSON.stringify(one)}`, /received entry 1: no \] or , after an entry/],
    [
      Array.from({ length: 10_001 }, () => ({ id: 'a', voice_vector: base64(sample) })),
      /more than 10000 entries/,
    ],
  ];
  for (const [list, message] of wrong) {
    const answer = await identify(port, list);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json.message, message);
  }
  const without = await postVoice(port, '/v1/voiceid/search', [audioEntry('x')]);
  assert.equal(without.headers['x-error-key'], 'FIELD_MISSING');
  const twice = await identify(port, [one], listEntry([one]));
  assert.equal(twice.headers['x-error-key'], 'FIELD_REPEATED');
  for (const [name, value] of [
    ['top', '0'],
    ['top', '1.5'],
    ['top', '101'],
    ['prior', '1.1'],
    ['prior', 'NaN'],
  ] as const) {
    const answer = await identify(port, [one], field(name, value));
    assert.equal(answer.status, 400, `${name}=${value}`);
    assert.match(answer.json.message, new RegExp(name));
  }
  assert.deepEqual(analyser.requests, []);
  assert.equal(arena.usedBytes, 0);
});

test('the processing time includes the comparison with the list', async (t) => {
  const { port } = await startIdentify(t);
  // The first request also loads code.
  await identify(port, [one]);
  const { rank } = VoiceprintList.prototype;
  t.mock.method(
    VoiceprintList.prototype,
    'rank',
    async function (this: VoiceprintList, ...asked: Parameters<typeof rank>) {
      await setTimeout(300);
      return rank.apply(this, asked);
    },
  );
  const { processing_time } = (await identify(port, [one])).json;
  assert.ok(processing_time >= 0.29, `${processing_time}`);
});

test('an AI-generated voice is 403, and names nobody', async (t) => {
  const { port, analyser } = await startIdentify(t);
  analyser.answer = () => someAnalysis;
  const answer = await identify(port, [one]);
  assert.equal(answer.status, 403);
  assert.doesNotMatch(answer.text, /matches/);
});

test('order, probabilities and what a stranger reaches are those of NumPy and the statistics of Python', async (t) => {
  const { port } = await startIdentify(t);
  const vectors = Array.from({ length: 300 }, (_, i) => voiceprint(i, 0.1 + ((i * 97) % 300) / 400));
  const list = vectors.map((vector, i) => ({
    id: i === 0 ? 'Zoë "Z"\n' : `person ${i}`,
    voice_vector: i % 2 === 0 ? Array.from(vector) : base64(vector),
  }));
  const answer = await identify(port, list, field('top', '7'), field('prior', '0.2'));
  assert.equal(answer.status, 200, answer.text);

  const script = `
import json, math, sys, numpy as np
from statistics import NormalDist
given = json.load(sys.stdin)
unit = lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True)
cosines = unit(np.array(given["vectors"])) @ unit(np.array(given["sample"]))
n, prior = len(cosines), 0.2
ratios = np.exp(given["scale"] * cosines + given["bias"])
total = (1 - prior) + (prior / n * ratios).sum()
order = np.argsort(-cosines)[:7]
normal = NormalDist(given["mean"], given["sd"])
best = lambda p: math.tanh(normal.inv_cdf((1 - p) ** (1 / n)))
print(json.dumps({"order": order.tolist(), "cosines": cosines[order].tolist(),
  "probabilities": (prior / n * ratios[order] / total).tolist(), "unknown": (1 - prior) / total,
  "strangers": [1 - normal.cdf(math.atanh(c)) ** n for c in cosines[order]], "median": best(0.5), "rare": best(0.01)}))`;
  const input = JSON.stringify({
    vectors: vectors.map((vector) => Array.from(vector)),
    sample: Array.from(sample),
    ...model.calibration,
    ...strangers,
  });
  const expected = JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input, encoding: 'utf8' }));
  const { matches, ...rest } = answer.json;
  const close = (actual: number, wanted: number, what: string): void =>
    assert.ok(Math.abs(actual - wanted) <= 1e-6 + 1e-4 * Math.abs(wanted), `${what}: ${actual}, ${wanted}`);
  assert.equal(matches.length, 7);
  for (const [i, match] of matches.entries()) {
    assert.equal(match.index, expected.order[i]);
    assert.equal(match.id, list[match.index]?.id);
    close(match.cosine, expected.cosines[i], 'cosine');
    close(match.probability, expected.probabilities[i], 'probability');
    close(match.stranger_probability, expected.strangers[i], 'stranger');
    assert.equal(match.is_match, match.similarity_score >= 0.6 && match.stranger_probability <= 0.01);
  }
  const sigmoid = (cosine: number): number => 1 / (1 + Math.exp(-(10 * cosine - 5)));
  close(rest.unknown_probability, expected.unknown, 'unknown');
  close(rest.stranger_similarity.median, sigmoid(expected.median), 'median');
  close(rest.stranger_similarity.one_in_100, sigmoid(expected.rare), 'one in 100');
  assert.equal(rest.compared, 300);
});

test('a model that knows no strangers says so', async (t) => {
  const { port } = await startIdentify(t, someSpeakerModel);
  const { matches, stranger_similarity } = (await identify(port, [one])).json;
  assert.equal(stranger_similarity, null);
  assert.equal(matches[0].stranger_probability, null);
  assert.equal(matches[0].is_match, true);
});

test('10,000 voiceprints from the client do not hold up the server', async (t) => {
  const { port, arena } = await startIdentify(t);
  const client = new VeravoxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: API_KEY });
  const embedding = voiceprint(1, 0.9);
  const voiceprints = Array.from({ length: 10_000 }, (_, i) => ({
    id: String(i),
    embedding: i === 7777 ? sample : embedding,
  }));
  const answer = await client.identify(Buffer.from('x'), voiceprints, { top: 2 });
  assert.deepEqual(
    answer.matches.map(({ id, index }) => [id, index]),
    [
      ['7777', 7777],
      ['0', 0],
    ],
  );
  assert.equal(answer.compared, 10_000);
  assert.equal(arena.usedBytes, 0);
});
