// SPDX-License-Identifier: Apache-2.0
//
// How batches are spread over GPUs and what happens when one fails, with owners under the test's control instead of threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { cpuDevices, cudaDevices, type DeviceStatus } from '../../src/analysis/scoring/devices.js';
import { Scheduler, type SchedulerOptions } from '../../src/analysis/scoring/scheduler.js';
import type { ScoringOwner } from '../../src/analysis/scoring/scoring-owner.js';
import type { ScoringResult } from '../../src/analysis/scoring/scoring-task.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { BatchRecord } from '../../src/base/observe/device-metrics.js';
import { until } from '../support/until.js';

const { models } = await loadManifest(`${packageDir}/models`);
const model = models.find(({ task }) => task === 'detection');
assert.ok(model);
const allModels = [model];

/** A batch that the test ends. */
interface Batch {
  readonly slots: readonly number[];
  succeed(): void;
  fail(message: string): void;
}

class OwnerDouble implements ScoringOwner {
  readonly batches: Batch[] = [];
  restarts = 0;
  /** Reason why it cannot be restarted. */
  lasting: Error | undefined;
  isClosed = false;

  async warmUp(): Promise<void> {}

  score(_model: number, slots: readonly number[]): Promise<ScoringResult> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.batches.splice(this.batches.indexOf(batch), 1);
      };
      const batch = {
        slots,
        succeed() {
          end();
          resolve({ outputs: Float64Array.from(slots, (slot) => slot / 1000) });
        },
        fail(message: string) {
          end();
          reject(new Error(message));
        },
      };
      this.batches.push(batch);
    });
  }

  async restart(): Promise<void> {
    this.restarts++;
    if (this.lasting) throw this.lasting;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** Its batch; it never has more than one. */
  get batch(): Batch {
    assert.equal(this.batches.length, 1);
    return this.batches[0] as Batch;
  }
}

/** A scheduler of GPUs with these numbers, and its reports and requests. */
function start(gpus: readonly number[], more: Partial<SchedulerOptions> = {}) {
  const owners = new Map<string, OwnerDouble>();
  const changes: DeviceStatus[] = [];
  const records: BatchRecord[] = [];
  const slots = InputSlots.create(1, 1);
  const scheduler = new Scheduler<{ group: string }>(
    { models: allModels, sources: [new Uint8Array()], slots: slots.shared, maxBatchInputs: 4 },
    {
      devices: cudaDevices(gpus),
      maxBatchInputs: 4,
      maxBackgroundInputs: 4,
      mayBatch: () => true,
      batchWaitMs: 0,
      onThreadError: assert.fail,
      startOwner({ name }) {
        const owner = new OwnerDouble();
        owners.set(name, owner);
        return owner;
      },
      onChange: (status) => changes.push(status),
      onBatch: (record) => records.push(record),
      ...more,
    },
  );
  let started = 0;
  const push = (slot: number, group = 'a'): Promise<number> =>
    new Promise((resolve, failed) => {
      scheduler.push(
        { group },
        {
          model: 0,
          slot,
          sound: {},
          enqueuedMs: performance.now(),
          started: () => started++,
          scored: ([output = Number.NaN]) => resolve(output),
          failed,
        },
      );
    });
  const owner = (name: string): OwnerDouble => {
    const found = owners.get(name);
    assert.ok(found, `${name} has no owner`);
    return found;
  };
  return { scheduler, owner, owners, changes, records, push, started: () => started };
}

/** Lets pending promises settle. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('batches go to all GPUs, one at a time to each', async () => {
  const { scheduler, owner, owners, push, records } = start([0, 1, 2]);
  const scores = Promise.all(Array.from({ length: 12 }, (_, slot) => push(slot)));
  assert.deepEqual([...owners.keys()], ['cuda:0', 'cuda:1', 'cuda:2']);
  const used = new Map<string, number>();
  while (records.reduce((sum, { inputs }) => sum + inputs, 0) < 12) {
    for (const [name, { batches }] of owners) {
      assert.ok(batches.length <= 1, `${name} has ${batches.length} batches`);
      if (batches.length === 1) used.set(name, (used.get(name) ?? 0) + owner(name).batch.slots.length);
    }
    for (const { batches } of owners.values()) batches[0]?.succeed();
    await settled();
  }
  assert.deepEqual(
    await scores,
    Array.from({ length: 12 }, (_, slot) => slot / 1000),
  );
  assert.equal(used.size, 3);
  await scheduler.close();
  for (const { isClosed } of owners.values()) assert.ok(isClosed);
});

test('of idle GPUs, the one that was faster takes the next batch', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { scheduler, owner, push } = start([0, 1]);
  const first = [push(1), push(2)];
  nowMs += 10;
  owner('cuda:0').batch.succeed();
  await settled();
  nowMs += 40;
  owner('cuda:1').batch.succeed();
  await Promise.all(first);
  for (let i = 0; i < 3; i++) {
    const next = push(3);
    nowMs += 10;
    owner('cuda:0').batch.succeed();
    await next;
  }
  await scheduler.close();
});

test('a GPU that fails loses nothing: another one takes its batch, and it works again after a restart', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { scheduler, owner, changes, records, push, started } = start([0, 1]);
  const scores = [push(1), push(2)];
  const [failing, other] = [owner('cuda:1'), owner('cuda:0')];
  const [lost] = failing.batch.slots;
  failing.batch.fail('CUDA error 700');
  await settled();
  const problem = 'CUDA error 700';
  assert.deepEqual(scheduler.devices, [
    { name: 'cuda:0', isWorking: true },
    { name: 'cuda:1', isWorking: false, problem },
  ]);
  assert.deepEqual(changes, [{ name: 'cuda:1', isWorking: false, problem }]);
  other.batch.succeed();
  await settled();
  assert.deepEqual(other.batch.slots, [lost]);
  other.batch.succeed();
  assert.deepEqual(await Promise.all(scores), [0.001, 0.002]);
  assert.equal(started(), 2);
  assert.deepEqual(
    records.map(({ device, isFailed }) => [device, isFailed]),
    [
      ['cuda:1', true],
      ['cuda:0', false],
      ['cuda:0', false],
    ],
  );
  // It accepts nothing until it works again.
  const more = [push(3), push(4)];
  assert.equal(failing.batches.length, 0);
  failing.lasting = new Error('still broken');
  t.mock.timers.tick(100);
  await settled();
  assert.equal(failing.restarts, 1);
  assert.equal(scheduler.devices[1]?.problem, 'still broken');
  t.mock.timers.tick(199);
  await settled();
  assert.equal(failing.restarts, 1);
  failing.lasting = undefined;
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual(changes.at(-1), { name: 'cuda:1', isWorking: true });
  assert.deepEqual(failing.batch.slots, [4]);
  failing.batch.succeed();
  other.batch.succeed();
  assert.deepEqual(await Promise.all(more), [0.003, 0.004]);
  await scheduler.close();
});

test('inputs that fail on two GPUs fail, and the next ones do not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { scheduler, owner, push } = start([0, 1, 2]);
  const poison = push(1);
  owner('cuda:2').batch.fail('first');
  await settled();
  owner('cuda:1').batch.fail('second');
  await assert.rejects(poison, /second/);
  const next = push(2);
  owner('cuda:0').batch.succeed();
  assert.equal(await next, 0.002);
  await scheduler.close();
});

test('without a GPU that works, inputs wait for one; those of closed schedulers fail', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { scheduler, owner, push } = start([0]);
  const lost = push(1);
  owner('cuda:0').batch.fail('gone');
  await settled();
  assert.equal(scheduler.isWorking, false);
  const waiting = push(2);
  assert.equal(scheduler.waitingCount, 1);
  t.mock.timers.tick(100);
  await settled();
  assert.equal(scheduler.isWorking, true);
  // The lost batch goes first.
  assert.deepEqual(owner('cuda:0').batch.slots, [1]);
  owner('cuda:0').batch.succeed();
  await settled();
  owner('cuda:0').batch.succeed();
  assert.deepEqual(await Promise.all([lost, waiting]), [0.001, 0.002]);

  const abandoned = push(3);
  owner('cuda:0').batch.fail('gone again');
  await settled();
  const closed = scheduler.close();
  await assert.rejects(abandoned, /gone again/);
  await closed;
});

test('CPUs on standby work while no GPU does, and only then', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { scheduler, owner, owners, changes, push } = start([0], { standby: cpuDevices(1) });
  assert.deepEqual([...owners.keys()], ['cuda:0']);
  const lost = push(1);
  owner('cuda:0').batch.fail('gone');
  await until(() => owners.get('cpu')?.batches.length === 1);
  assert.equal(scheduler.isWorking, true);
  assert.deepEqual(scheduler.devices.at(-1), { name: 'cpu', isWorking: true });
  owner('cpu').batch.succeed();
  assert.equal(await lost, 0.001);
  // A failure of the CPU is the fault of an input.
  const failing = push(2);
  owner('cpu').batch.fail('thread died');
  await assert.rejects(failing, /thread died/);
  t.mock.timers.tick(100);
  await settled();
  assert.deepEqual(changes.at(-1), { name: 'cuda:0', isWorking: true });
  const next = push(3);
  assert.equal(owner('cpu').batches.length, 0);
  owner('cuda:0').batch.succeed();
  assert.equal(await next, 0.003);
  await scheduler.close();
  assert.ok(owner('cpu').isClosed);
});

test('CPUs on standby that cannot start are tried again while no GPU works', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const gpu = new OwnerDouble();
  const cpus: OwnerDouble[] = [];
  const { scheduler, push } = start([0], {
    standby: cpuDevices(1),
    startOwner({ name }) {
      if (name !== 'cpu') return gpu;
      const cpu = new OwnerDouble();
      if (cpus.push(cpu) === 1) cpu.warmUp = () => Promise.reject(new Error('no memory'));
      return cpu;
    },
  });
  const lost = push(1);
  gpu.lasting = new Error('still broken');
  gpu.batch.fail('gone');
  await until(() => cpus[0]?.isClosed === true);
  await settled();
  assert.equal(scheduler.isWorking, false);
  t.mock.timers.tick(100);
  await settled();
  cpus[1]?.batch.succeed();
  assert.equal(await lost, 0.001);
  await scheduler.close();
});
