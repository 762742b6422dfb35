// SPDX-License-Identifier: Apache-2.0
//
// Windows of recordings are scored when no request waits, and now and then although one does.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { loadManifest, readModelFile } from '../../src/analysis/models/model-file.js';
import { inputSizeOf } from '../../src/analysis/models/model-sizes.js';
import { cpuDevices } from '../../src/analysis/scoring/devices.js';
import { Scheduler } from '../../src/analysis/scoring/scheduler.js';
import { packageDir } from '../../src/base/config/package-dir.js';

test('one window of a recording is scored between those of requests, the rest after them', async () => {
  const modelsDir = path.join(packageDir, 'models');
  const { models } = await loadManifest(modelsDir);
  const model = models.find(({ task }) => task === 'detection');
  assert.ok(model);
  const slots = InputSlots.create(1, inputSizeOf(model));
  const { source } = await readModelFile(modelsDir, model);
  const scheduler = new Scheduler<{ group: string; isBackground?: boolean }>(
    { models: [model], sources: [source], slots: slots.shared, maxBatchInputs: 8 },
    {
      devices: cpuDevices(1),
      maxBatchInputs: 8,
      maxBackgroundInputs: 1,
      mayBatch: () => false,
      batchWaitMs: 0,
      onThreadError: assert.fail,
    },
  );
  try {
    await scheduler.ready;
    const order: string[] = [];
    const recording = { group: 'a', isBackground: true };
    const pushed = (owner: { group: string; isBackground?: boolean }, name: string) =>
      new Promise<unknown>((scored, failed) => {
        const started = () => order.push(name);
        scheduler.push(owner, {
          model: 0,
          slot: 0,
          sound: {},
          enqueuedMs: performance.now(),
          started,
          scored,
          failed,
        });
      });
    const windows = [1, 2, 3].map((i) => pushed(recording, `window ${i}`));
    const requests = [1, 2, 3, 4].map((i) => pushed({ group: 'b' }, `request ${i}`));
    await Promise.all([...windows, ...requests]);
    // The first one found the thread idle.
    const others = ['request 1', 'request 2', 'request 3', 'request 4', 'window 2', 'window 3'];
    assert.deepEqual(order, ['window 1', ...others]);

    // Nobody waits now: withdrawn work is gone, of recordings and of requests.
    const running = pushed(recording, 'window 4');
    void pushed(recording, 'window 5');
    assert.equal(scheduler.remove(recording).length, 1);
    await running;
    assert.equal(order.at(-1), 'window 4');
  } finally {
    await scheduler.close();
  }
});
