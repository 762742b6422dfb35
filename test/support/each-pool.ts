// SPDX-License-Identifier: Apache-2.0
//
// A program that starts each kind of pool, ends it once all threads have loaded their modules, and prints what they loaded.
// A preloaded module in each thread tells of it.
import path from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { PreparePool } from '../../src/analysis/prepare/prepare-pool.js';
import type { PrepareWorkerData } from '../../src/analysis/prepare/prepare-task.js';
import { RunControl } from '../../src/analysis/prepare/run-control.js';
import { ScoringThread } from '../../src/analysis/scoring/scoring-owner.js';
import { packageDir } from '../../src/base/config/package-dir.js';

let started = 0;
process.on('worker', () => started++);

const loaded: string[] = [];
const loads = new BroadcastChannel('loads');
let onLoad = (): void => {};
loads.onmessage = (event) => {
  loaded.push((event as { data: string }).data);
  onLoad();
};

const { models } = await loadManifest(path.join(packageDir, 'models'));
const slots = InputSlots.create(1, 1).shared;
const data: PrepareWorkerData = {
  arena: new SharedArrayBuffer(1),
  slots,
  modelInputs: [inputTextOf(models[0] as Model)],
  sandbox: 'off',
  control: RunControl.create(2).shared,
  maxPendingInputs: 1,
};
const ignored = (): void => {};

const preparePool = new PreparePool(2, data, {
  mayBegin: () => true,
  onInputs: ignored,
  onThreadError: ignored,
});
const scoringThread = new ScoringThread(
  { models: [], sources: [], slots, device: { name: 'cpu', provider: 'cpu' }, maxBatchInputs: 1 },
  ignored,
);
await preparePool.ready;
await scoringThread.warmUp();
// A thread of the first pool is ready before its module has been handed over.
await new Promise<void>((resolve) => {
  onLoad = () => loaded.length === started && resolve();
  onLoad();
});
loads.close();
await preparePool.close();
await scoringThread.close();

console.log(loaded.join('\n'));
