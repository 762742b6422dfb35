// SPDX-License-Identifier: Apache-2.0
//
// A program that ends pools of threads in each state that they can be in, and prints how many threads it started.
import { once } from 'node:events';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import type { Model } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { PreparePool } from '../../src/analysis/prepare/prepare-pool.js';
import type { PrepareWorkerData } from '../../src/analysis/prepare/prepare-task.js';
import { RunControl } from '../../src/analysis/prepare/run-control.js';
import { ScoringThread } from '../../src/analysis/scoring/scoring-owner.js';
import { packageDir } from '../../src/base/config/package-dir.js';

const started: Worker[] = [];
process.on('worker', (worker) => started.push(worker));

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
const preparePool = (): PreparePool =>
  new PreparePool(2, data, { mayBegin: () => true, onInputs: ignored, onThreadError: ignored });
const scoringThread = (): ScoringThread =>
  new ScoringThread(
    { models: [], sources: [], slots, device: { name: 'cpu', provider: 'cpu' }, maxBatchInputs: 1 },
    ignored,
  );

await preparePool().close();

const ready = preparePool();
await ready.ready;
await ready.close();

const replacing = preparePool();
await replacing.ready;
const dying = started.at(-1) as Worker;
dying.terminate();
await once(dying, 'exit');
await replacing.close();

await scoringThread().close();

const interrupted = scoringThread();
await interrupted.warmUp();
const closing = interrupted.close();
started.at(-1)?.terminate();
await closing.catch(ignored);

console.log(`${started.length} started`);
