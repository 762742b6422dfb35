// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toProbability } from '../../src/analysis/scoring/score.js';

const asIs = { scale: 1, bias: 0 };

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not close to ${expected}`);
}

test('an output that is not finite gives NaN, never a probability', () => {
  const model = { output: { name: 'y', kind: 'logit', index: 0 }, calibration: asIs } as const;
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.ok(Number.isNaN(toProbability(Float32Array.of(bad), model)));
    assert.ok(Number.isNaN(toProbability(Float32Array.of(0, bad), model)));
  }
});

test('a single logit goes through the calibrated sigmoid', () => {
  const output = { name: 'y', kind: 'logit', index: 0 } as const;
  close(toProbability(Float32Array.of(0), { output, calibration: asIs }), 0.5);
  close(toProbability(Float32Array.of(2), { output, calibration: asIs }), 0.8807970779778823);
  close(toProbability(Float32Array.of(2), { output, calibration: { scale: 0.5, bias: -1 } }), 0.5);
  close(toProbability(Float32Array.of(200), { output, calibration: asIs }), 1);
  close(toProbability(Float32Array.of(-200), { output, calibration: asIs }), 0);
});

test('one logit per class gives the softmax of the chosen class', () => {
  const logits = Float32Array.of(1, -0.5, 3);
  const sum = Math.exp(1) + Math.exp(-0.5) + Math.exp(3);
  for (const index of [0, 1, 2]) {
    const model = { output: { name: 'y', kind: 'logit', index }, calibration: asIs } as const;
    close(toProbability(logits, model), Math.exp(logits[index] as number) / sum);
  }
});

test('a probability is kept, its ends included, and can be calibrated', () => {
  const output = { name: 'y', kind: 'probability', index: 1 } as const;
  for (const p of [0, 0.25, 0.5, 1])
    close(toProbability(Float32Array.of(1 - p, p), { output, calibration: asIs }), p);
  close(
    toProbability(Float32Array.of(0.5, 0.5), { output, calibration: { scale: 1, bias: 2 } }),
    0.8807970779778823,
  );
});
