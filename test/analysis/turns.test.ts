// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { PreparePool } from '../../src/analysis/prepare/prepare-pool.js';
import { RunControl } from '../../src/analysis/prepare/run-control.js';
import { Turns } from '../../src/analysis/threads/turns.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { until } from '../support/until.js';

test('one owner is alone, however often it asks', () => {
  const turns = new Turns();
  for (let nowMs = 0; nowMs < 100; nowMs++) turns.note('a', nowMs);
  assert.equal(turns.areSeveral(100), false);
});

test('another owner makes several, until one has been alone for five seconds', () => {
  const turns = new Turns();
  turns.note('a', 0);
  turns.note('b', 1000);
  assert.equal(turns.areSeveral(1000), true);
  for (let nowMs = 1001; nowMs <= 6000; nowMs++) turns.note('b', nowMs);
  assert.equal(turns.areSeveral(5999), true);
  assert.equal(turns.areSeveral(6000), false);
  turns.note('a', 6001);
  assert.equal(turns.areSeveral(6001), true);
});

test('an owner that may begin again while another is chosen loses no work', async () => {
  const { models } = await loadManifest(path.join(packageDir, 'models'));
  let asked = 0;
  const pool = new PreparePool(
    1,
    {
      arena: new SharedArrayBuffer(1),
      slots: InputSlots.create(1, 1).shared,
      modelInputs: [inputTextOf(models[0] as Model)],
      sandbox: 'off',
      control: RunControl.create(1).shared,
      maxPendingInputs: 1,
    },
    {
      // Not yet when its file arrives, nor when the thread of another owner is looked for.
      mayBegin: (owner) => owner === 'b' || ++asked > 2,
      onInputs: () => assert.fail(),
      onThreadError: assert.fail,
    },
  );
  try {
    await pool.ready;
    const begun: string[] = [];
    const options = { minDurationS: 1, maxDurationS: 1, silenceThresholdPercent: 80, timeLimitMs: 1000 };
    for (const [id, owner] of ['a', 'b'].entries()) {
      const makeTask = (control: number) => {
        begun.push(owner);
        return { id, control, region: { offset: 0, length: 1 }, model: 0, options };
      };
      pool.run(makeTask, new AbortController().signal, { owner }).catch(assert.fail);
    }
    await until(() => begun.length === 2);
    assert.deepEqual(begun, ['b', 'a']);
  } finally {
    await pool.close();
  }
});
