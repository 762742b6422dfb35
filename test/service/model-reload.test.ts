// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { pino } from 'pino';
import type { Analyser } from '../../src/analysis/analyser/analyser.js';
import type { CheckedModels } from '../../src/analysis/known-answers/checked-models.js';
import type { AnswerCheck } from '../../src/analysis/known-answers/known-answers.js';
import { ModelReload } from '../../src/analysis/known-answers/model-reload.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { AnalyserDouble } from '../support/analyser-double.js';
import { until } from '../support/until.js';

const arena = new UploadArena(1 << 20);

/** A reload with every step under the test's control. */
function create(use: (analyser: Analyser) => void = () => {}) {
  const starts: { resolve(models: CheckedModels): void; reject(error: unknown): void }[] = [];
  const used: Analyser[] = [];
  const results: string[] = [];
  const lines: { level: number; msg: string; err?: { message: string } }[] = [];
  const reload = new ModelReload({
    start: () => new Promise((resolve, reject) => starts.push({ resolve, reject })),
    use: (analyser) => {
      use(analyser);
      used.push(analyser);
    },
    onResult: (result) => results.push(result),
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  });
  return { reload, starts, used, results, lines };
}

test('models that cannot be started are reported in one line and change nothing; the next try works', async () => {
  const { reload, starts, used, results, lines } = create();
  reload.request();
  starts[0]?.reject(new Error('manifest.json is not JSON'));
  await until(() => results.length === 1);
  assert.deepEqual(used, []);
  assert.deepEqual(
    lines.map(({ level, msg, err }) => [level, msg, err?.message]),
    [[50, 'models could not be reloaded; keeping the current ones', 'manifest.json is not JSON']],
  );
  reload.request();
  const analyser = new AnalyserDouble(arena);
  starts[1]?.resolve({ analyser, wrongAnswers: [] });
  await until(() => results.length === 2);
  assert.deepEqual(used, [analyser]);
  assert.deepEqual(results, ['failed', 'loaded']);
});

test('models whose known answers do not hold are closed, and the line says which', async () => {
  const { reload, starts, used, results, lines } = create();
  reload.request();
  const wrong = new AnalyserDouble(arena);
  const check: AnswerCheck = {
    modelId: 'm',
    file: 'clip.flac',
    expected: [0.1],
    measured: [0.9],
    tolerance: 1e-4,
  };
  starts[0]?.resolve({ analyser: wrong, wrongAnswers: [check] });
  await until(() => results.length === 1);
  assert.deepEqual(used, []);
  assert.ok(wrong.closed);
  assert.match(lines[0]?.err?.message ?? '', /m moved by 0\.8.* for clip\.flac/);
});

test('models that cannot be put into use are closed', async () => {
  const { reload, starts, results } = create(() => {
    throw new Error('no such speaker model');
  });
  reload.request();
  const analyser = new AnalyserDouble(arena);
  starts[0]?.resolve({ analyser, wrongAnswers: [] });
  await until(() => results.length === 1);
  assert.deepEqual(results, ['failed']);
  assert.ok(analyser.closed);
});

test('requests that come during a reload make one more, however many they are', async () => {
  const { reload, starts, used, results } = create();
  for (let i = 0; i < 5; i++) reload.request();
  assert.equal(starts.length, 1);
  const [first, second] = [new AnalyserDouble(arena), new AnalyserDouble(arena)];
  starts[0]?.resolve({ analyser: first, wrongAnswers: [] });
  await until(() => starts.length === 2);
  starts[1]?.resolve({ analyser: second, wrongAnswers: [] });
  await until(() => results.length === 2);
  for (let i = 0; i < 10; i++) await nextTick();
  assert.equal(starts.length, 2);
  assert.deepEqual(used, [first, second]);
});

test('a close waits for the models under way, which are not used, and takes no further requests', async () => {
  const { reload, starts, used, results } = create();
  reload.request();
  reload.request();
  let isClosed = false;
  const closed = reload.close().then(() => {
    isClosed = true;
  });
  for (let i = 0; i < 10; i++) await nextTick();
  assert.ok(!isClosed);
  const analyser = new AnalyserDouble(arena);
  starts[0]?.resolve({ analyser, wrongAnswers: [] });
  await closed;
  assert.ok(analyser.closed);
  reload.request();
  assert.equal(starts.length, 1);
  assert.deepEqual([used, results], [[], []]);
});
