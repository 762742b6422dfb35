// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#verify.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Verification } from '../../src/base/contract/voice-identity.js';
import { human, otherHuman, sameHuman } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectEnrollment, expectNear, expectVerification } from './support/judge.js';
import { wav } from './support/wav.js';

describe('Voice verification result', () => {
  let embedding: readonly number[];
  let modelVersion: string;

  async function verify(samples: Int16Array, vector: readonly number[] = embedding): Promise<Verification> {
    const form = { audio_file: wav(samples), voice_vector: JSON.stringify(vector) };
    return expectVerification(await postForm('/v1/voiceid/verify', form));
  }

  before(async () => {
    const answer = await postForm('/v1/voiceid/enroll', { audio_file: wav(human(14)) });
    ({ embedding, model_version: modelVersion } = expectEnrollment(answer));
  });

  test('the sample of the enrollment matches', async () => {
    const { is_match, similarity_score, model_version, deepfake_score } = await verify(human(14));
    assert.equal(is_match, true, `similarity ${similarity_score}`);
    assert.equal(model_version, modelVersion);
    assert.equal(deepfake_score, null, 'the voice is authentic');
  });

  test('another sample of the same voice matches', async () => {
    const { is_match, similarity_score } = await verify(sameHuman(5.4));
    assert.equal(is_match, true, `similarity ${similarity_score}`);
  });

  test('another voice does not match', async () => {
    const { is_match, similarity_score } = await verify(otherHuman(5.2));
    assert.equal(is_match, false, `similarity ${similarity_score}`);
  });

  test('the opposite of the embedding does not match', async () => {
    const opposite = embedding.map((number) => -number);
    const { is_match, similarity_score } = await verify(human(14), opposite);
    assert.equal(is_match, false);
    expectNear(similarity_score, 0, 0.05, 'similarity_score');
  });

  test('an embedding of another length of the vector is the same embedding', async () => {
    const same = await verify(sameHuman(5.4));
    const scaled = await verify(
      sameHuman(5.4),
      embedding.map((number) => number * 3),
    );
    expectNear(scaled.similarity_score, same.similarity_score, 1e-4, 'similarity_score');
  });

  test('similarity falls with the distance; is_match and confidence_score follow from one operating point', async () => {
    // The cosine falls between two voices of the same model, and from the other one away from the first.
    const answer = await postForm('/v1/voiceid/enroll', { audio_file: wav(otherHuman(12)) });
    const other = expectEnrollment(answer).embedding;
    const mixtures: [ofFirst: number, ofOther: number][] = [
      ...[0, 0.2, 0.4, 0.5, 0.6, 0.8, 1].map((share): [number, number] => [1 - share, share]),
      ...[0.25, 0.5, 1, 2].map((less): [number, number] => [-less, 1]),
    ];
    const verifications: Verification[] = [];
    for (const [ofFirst, ofOther] of mixtures) {
      const vector = embedding.map((number, i) => ofFirst * number + ofOther * (other[i] ?? 0));
      verifications.push(await verify(human(14), vector));
    }
    const matches = verifications.filter(({ is_match }) => is_match);
    const others = verifications.filter(({ is_match }) => !is_match);
    assert.ok(matches.length > 0 && others.length > 0, 'the steps reach both sides of the operating point');
    const similarities = verifications.map(({ similarity_score }) => similarity_score);
    assert.deepEqual(
      similarities,
      [...similarities].sort((a, b) => b - a),
    );
    assert.deepEqual(
      verifications.map(({ is_match }) => is_match),
      [...matches, ...others].map(({ is_match }) => is_match),
    );
    expectOneOperatingPoint(verifications);
  });
});

/**
 * confidence = (s - p) / (1 - p) for a match, else (p - s) / p. Each answer gives p to within the rounding to
 * four decimals; one p must suit all.
 */
function expectOneOperatingPoint(verifications: readonly Verification[]): void {
  const rounding = 1e-4;
  let [lowest, highest] = [0, 1];
  for (const { is_match, similarity_score: s, confidence_score: c } of verifications) {
    const room = 1 - c;
    if (room < 10 * rounding) continue;
    const point = is_match ? (s - c) / room : s / room;
    const slack = (2 * rounding) / room;
    lowest = Math.max(lowest, point - slack);
    highest = Math.min(highest, point + slack);
  }
  const all = verifications
    .map((v) => `${v.is_match} ${v.similarity_score} ${v.confidence_score}`)
    .join('; ');
  assert.ok(lowest <= highest, `no operating point explains ${all}`);
  assert.ok(lowest > 0 || highest < 1, `nothing says where the operating point is: ${all}`);
}
