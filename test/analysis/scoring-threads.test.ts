// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { inputSizeOf } from '../../src/analysis/models/model-sizes.js';
import { chooseProvider, trialOf } from '../../src/analysis/scoring/provider.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import '../../src/analysis/scoring/telemetry-off.js';
import type {
  ScoringResult,
  ScoringTask,
  ScoringWorkerData,
} from '../../src/analysis/scoring/scoring-task.js';

const modelsDir = path.join(packageDir, 'models');
let models: readonly Model[];

before(async () => {
  ({ models } = await loadManifest(modelsDir));
});

function startThread(
  slots: InputSlots,
  sources: readonly Uint8Array[] = models.map(({ file }) => readFileSync(path.join(modelsDir, file))),
): Piscina<ScoringTask, ScoringResult> {
  const workerData: ScoringWorkerData = {
    models: models.slice(0, sources.length),
    sources,
    slots: slots.shared,
    device: { name: 'cpu', provider: 'cpu' },
    maxBatchInputs: 1,
  };
  const filename = fileURLToPath(new URL('../../src/analysis/scoring/scoring-worker.js', import.meta.url));
  return new Piscina({ filename, minThreads: 1, maxThreads: 1, workerData });
}

test('CUDA that cannot be loaded stops the start and says what is missing; auto falls back and says why', async (t) => {
  const trial = trialOf(modelsDir, models[0] as Model);
  const choice = await chooseProvider({ device: 'auto' }, trial);
  if (choice.provider !== 'cpu') {
    t.diagnostic(`This machine has ${choice.provider}: the fall-back was not seen.`);
    return;
  }
  assert.match(choice.fallbackReason ?? '', /CUDA/);
  await assert.rejects(chooseProvider({ device: 'cuda' }, trial), /VERAVOX_DEVICE is cuda, but .*CUDA/);
  assert.deepEqual(await chooseProvider({ device: 'cpu' }, trial), { provider: 'cpu' });
});

test('a thread that dies does not disturb another, and its successor scores the same', async () => {
  const inputSize = inputSizeOf(models[0] as Model);
  const slots = InputSlots.create(1, inputSize);
  const slot = slots.acquire(0) as number;
  slots.view(slot, inputSize).forEach((_, i, values) => {
    values[i] = Math.sin(i / 7);
  });
  const task: ScoringTask = { kind: 'score', model: 0, slots: [slot], sounds: [{}] };
  const [dying, living] = [startThread(slots), startThread(slots)];
  try {
    const [expected] = await Promise.all([dying.run(task), living.run(task)]);
    const meanwhile = Promise.all(Array.from({ length: 5 }, () => living.run(task)));
    await Promise.all(dying.threads.map((thread) => thread.terminate()));
    for (const { outputs } of await meanwhile) assert.deepEqual(outputs, expected.outputs);
    assert.deepEqual((await dying.run(task)).outputs, expected.outputs);
  } finally {
    for (const pool of [dying, living]) {
      await pool.run({ kind: 'release' });
      await pool.close();
    }
  }
});

test('a thread that cannot load its second model at first loads it for the next task', async () => {
  const files = models.slice(0, 2).map(({ file }) => readFileSync(path.join(modelsDir, file)));
  const sources = files.map((file) => new Uint8Array(new SharedArrayBuffer(file.length)));
  const put = (i: number) => sources[i]?.set(files[i] ?? []);
  put(0);
  const slots = InputSlots.create(1, Math.max(...models.map(inputSizeOf)));
  const task: ScoringTask = { kind: 'score', model: 1, slots: [slots.acquire(0) as number], sounds: [{}] };
  const thread = startThread(slots, sources);
  try {
    await assert.rejects(thread.run(task), /cannot be loaded/);
    put(1);
    assert.ok((await thread.run(task)).outputs.length > 0);
  } finally {
    await thread.run({ kind: 'release' });
    await thread.close();
  }
});
