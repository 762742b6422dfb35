// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { dot, normalised } from '../../../src/analysis/voiceid/vectors.js';
import { VoiceprintSpace } from '../../../src/analysis/voiceid/voiceprint-space.js';

const fingerprint = (name: string): string => createHash('sha256').update(name).digest('hex');
const own = new VoiceprintSpace(fingerprint('own'));
const other = new VoiceprintSpace(fingerprint('other'));

/** A vector of approximately normal numbers, the same every time. */
function embedding(seed: number): Float32Array {
  const bytes = Buffer.concat(
    Array.from({ length: 96 }, (_, i) => createHash('sha256').update(`${seed}:${i}`).digest()),
  );
  return Float32Array.from({ length: 256 }, (_, i) =>
    bytes.subarray(i * 12, i * 12 + 12).reduce((sum, byte) => sum + byte - 127.5, 0),
  );
}

const roundedTo = (decimals: number) => (x: number) => Number(x.toFixed(decimals));

/** IEEE 754 half precision has 11 significant bits; no number here is small enough to be denormal. */
function asHalf(x: number): number {
  if (x === 0) return 0;
  const unit = 2 ** Math.max(-24, Math.floor(Math.log2(Math.abs(x))) - 10);
  return Math.round(x / unit) * unit;
}

test('vectors that another model made are recognised, every one of a thousand', () => {
  for (let seed = 0; seed < 1000; seed++) {
    assert.ok(!own.contains(other.voiceprintOf(embedding(seed))), `seed ${seed}`);
    assert.ok(!own.contains(embedding(seed)), `seed ${seed}, not a voiceprint at all`);
  }
});

test('vectors that are no embedding are recognised', () => {
  const constant = new Float32Array(256).fill(1 / 16);
  const axis = Float32Array.from({ length: 256 }, (_, i) => (i === 5 ? 1 : 0));
  const ramp = Float32Array.from({ length: 256 }, (_, i) => i / 256);
  const alternating = Float32Array.from({ length: 256 }, (_, i) => (i % 2 === 0 ? 1 : -1));
  for (const vector of [constant, axis, ramp, alternating]) assert.ok(!own.contains(vector));
});

const changes: readonly [what: string, change: (voiceprint: Float32Array) => Float32Array][] = [
  ['as it was returned', (v) => v],
  ['scaled up', (v) => v.map((x) => x * 1e6)],
  ['scaled down', (v) => v.map((x) => x / 1e6)],
  ['turned round', (v) => v.map((x) => -x)],
  ['normalised again as float32', (v) => Float32Array.from(normalised(v.map((x) => x * 0.3)))],
  ['rounded to six decimals', (v) => v.map(roundedTo(6))],
  ['rounded to four decimals', (v) => v.map(roundedTo(4))],
  ['rounded to three decimals', (v) => v.map(roundedTo(3))],
  ['in half precision', (v) => v.map(asHalf)],
  ['quantised to 8 bits', (v) => v.map((x) => Math.round(x * 400) / 400)],
];
for (const [what, change] of changes) {
  test(`a voiceprint of the model is its own ${what}`, () => {
    for (let seed = 0; seed < 200; seed++) {
      const voiceprint = own.voiceprintOf(embedding(seed));
      assert.ok(own.contains(change(voiceprint)), `seed ${seed}`);
    }
  });
}

test('the mean of several voiceprints of the model is its own', () => {
  const voiceprints = Array.from({ length: 5 }, (_, seed) => own.voiceprintOf(embedding(seed)));
  const mean = Float32Array.from({ length: 256 }, (_, i) =>
    voiceprints.reduce((sum, v) => sum + (v[i] as number) / 5, 0),
  );
  assert.ok(own.contains(mean));
});

test('a voiceprint has length 1 and is nearly the embedding itself', () => {
  for (let seed = 0; seed < 200; seed++) {
    const voiceprint = own.voiceprintOf(embedding(seed));
    assert.ok(Math.abs(dot(voiceprint, voiceprint) - 1) < 1e-6);
    assert.ok(dot(voiceprint, normalised(embedding(seed))) > 0.94);
  }
});

test('cosines hardly change', () => {
  let sum = 0;
  const pairs = 500;
  for (let seed = 0; seed < pairs; seed++) {
    const a = embedding(seed);
    const change = embedding(seed + 10_000);
    const b = a.map((x, i) => x + 0.8 * (change[i] as number));
    const before = dot(normalised(a), normalised(b));
    const after = dot(own.voiceprintOf(a), own.voiceprintOf(b));
    assert.ok(Math.abs(after - before) < 0.06, `${before} became ${after}`);
    sum += after - before;
  }
  assert.ok(Math.abs(sum / pairs) < 0.002, 'neither side is favoured');
});
