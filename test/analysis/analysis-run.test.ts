// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalysisRun } from '../../src/analysis/pipeline/analysis-run.js';
import type { ServiceError } from '../../src/base/errors/service-error.js';

const summary = {
  durationS: 10,
  channels: 1,
  damagedAtS: [],
  damagedPackets: 0,
  speechRatio: 0.9,
  clippedRatio: 0,
  skipped: [],
  decodeMs: 2,
  featuresMs: 3,
};

function input(windowIndex: number, inputIndex = 0, inputsInWindow = 1) {
  return {
    slot: 0,
    windowIndex,
    inputIndex,
    inputsInWindow,
    startS: windowIndex * 5,
    endS: windowIndex * 5 + 5,
    fileProgress: 0,
  };
}

const output = (score: number) => Float64Array.of(score);

test('a number that is not finite fails the analysis', async () => {
  const run = new AnalysisRun({ id: 'm' });
  run.announced(input(0));
  run.takenUp(input(0), 0, 0);
  run.scored(input(0), output(Number.NaN), 1);
  await assert.rejects(run.promise, (error: ServiceError) => error.key === 'NON_FINITE_OUTPUT');
});

test('the first failure counts and later results change nothing', async () => {
  const run = new AnalysisRun({ id: 'm' });
  run.fail(new Error('first'));
  run.fail(new Error('second'));
  run.announced(input(0));
  run.scored(input(0), output(0.5), 1);
  run.prepared({ ok: true, inputs: [], inputCount: 1, summary });
  assert.ok(run.settled);
  await assert.rejects(run.promise, /first/);
});

test('it is whole when the summary and every score are there, in any order', async () => {
  const whole = { ok: true, inputs: [], inputCount: 3, summary } as const;
  const steps = [
    (run: AnalysisRun) => run.prepared(whole),
    (run: AnalysisRun) => run.scored(input(0, 0, 2), output(0.25), 7),
    (run: AnalysisRun) => run.scored(input(0, 1, 2), output(0.75), 7),
    (run: AnalysisRun) => run.scored(input(1), output(0.5), 7),
  ];
  for (let first = 0; first < steps.length; first++) {
    const run = new AnalysisRun({ id: 'm' });
    for (const each of [input(0, 0, 2), input(0, 1, 2), input(1)]) {
      run.announced(each);
      run.takenUp(each, 0, 0);
    }
    for (let i = 0; i < steps.length; i++) {
      assert.equal(run.settled, false);
      steps[(first + i) % steps.length]?.(run);
    }
    const analysis = await run.promise;
    assert.deepEqual(analysis.windows, [
      { startS: 0, endS: 5, scores: [0.25, 0.75] },
      { startS: 5, endS: 10, scores: [0.5] },
    ]);
    assert.equal(analysis.durationS, 10);
    assert.deepEqual(analysis.timesMs, { queue: 0, decode: 2, features: 3, inference: 7 });
  }
});

test('inference is wall time: what threads score side by side counts once, and pauses do not', async () => {
  const run = new AnalysisRun({ id: 'm' });
  for (const each of [input(0), input(1), input(2), input(3)]) run.announced(each);
  run.takenUp(input(0), 0, 100);
  run.takenUp(input(1), 0, 110);
  run.scored(input(0), output(0.5), 150);
  run.takenUp(input(2), 0, 150);
  run.scored(input(1), output(0.5), 160);
  run.scored(input(2), output(0.5), 175);
  run.takenUp(input(3), 0, 1000);
  run.scored(input(3), output(0.5), 1005);
  run.prepared({ ok: true, inputs: [], inputCount: 4, summary });
  assert.equal((await run.promise).timesMs.inference, 75 + 5);
});

test('progress counts whole windows', async () => {
  const seen: number[] = [];
  const run = new AnalysisRun({ id: 'm' }, (progress) => seen.push(progress.scoredWindows));
  run.announced(input(0, 0, 2));
  run.announced(input(0, 1, 2));
  run.scored(input(0, 0, 2), output(0.5), 1);
  run.scored(input(0, 1, 2), output(0.5), 1);
  assert.deepEqual(seen, [0, 1]);
});

test('a result says from which confidence on its model is certain, if its entry does', async () => {
  const abstention = { confidence_below: 0.1, error_bound: 0.2, verdicts_given: 0.9 };
  for (const [model, expected] of [
    [{ id: 'm', abstention }, 0.1],
    [{ id: 'm' }, undefined],
  ] as const) {
    const run = new AnalysisRun(model);
    run.prepared({ ok: true, inputs: [], inputCount: 0, summary });
    assert.equal((await run.promise).uncertainBelowConfidence, expected);
  }
});
