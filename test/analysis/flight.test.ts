// SPDX-License-Identifier: Apache-2.0
//
// Whatever ends a flight, each of its slots comes back once, and its owner's room with the last.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';
import { acceptInputs, Flight, type FlightRun } from '../../src/analysis/pipeline/flight.js';
import type { PrepareResult, SlottedInput } from '../../src/analysis/prepare/prepare-task.js';
import { RunControl } from '../../src/analysis/prepare/run-control.js';
import type { JobOwner, ScoringJob } from '../../src/analysis/scoring/scheduler.js';

const SLOTS = 4;

class Run implements FlightRun {
  readonly scores: number[] = [];
  readonly failures: unknown[] = [];
  get settled(): boolean {
    return this.failures.length > 0;
  }
  announced(): void {}
  scored(_input: SlottedInput, output: Float64Array): void {
    this.scores.push(...output);
  }
  fail(reason: unknown): void {
    this.failures.push(reason);
  }
}

function takeOff(signal?: AbortSignal) {
  const slots = InputSlots.create(SLOTS, 1);
  const waiting: ScoringJob[] = [];
  const scheduler = {
    push: (_owner: JobOwner, job: ScoringJob) => void waiting.push(job),
    remove: () => waiting.splice(0),
  };
  const control = RunControl.create(1);
  const path = { slots, scheduler, control, flights: new Map<number, Flight>() };
  const run = new Run();
  const events: string[] = [];
  const watch = { begun: () => void events.push('begun'), over: () => void events.push('over') };
  const owner = { group: 'a' };
  const flight = new Flight(path, { owner, model: 0, run, watch, ...(signal && { signal }) });
  const thread = { resolve(_result: PrepareResult): void {}, reject(_reason: unknown): void {} };
  const pool = {
    run(makeTask: (index: number) => void): Promise<PrepareResult> {
      makeTask(0);
      return new Promise((resolve, reject) => Object.assign(thread, { resolve, reject }));
    },
  };
  const prepared = flight.prepare(pool, () => {});
  return { slots, waiting, control, path, run, events, flight, thread, prepared };
}

function inputs(slots: InputSlots, count: number): SlottedInput[] {
  return Array.from({ length: count }, (_, windowIndex) => ({
    slot: slots.acquire(0) as number,
    windowIndex,
    inputIndex: 0,
    inputsInWindow: 1,
    startS: windowIndex,
    endS: windowIndex + 1,
    fileProgress: 0,
  }));
}

const failed = (rest: readonly SlottedInput[], inputCount: number): PrepareResult => ({
  ok: false,
  inputs: rest,
  inputCount,
  code: 'CANCELLED',
  message: '',
  measuredS: 0,
});

test('a flight is over with its last score, not with its task', async () => {
  const { slots, waiting, path, run, events, flight, thread, prepared } = takeOff();
  const [first, last] = inputs(slots, 2) as [SlottedInput, SlottedInput];
  acceptInputs(path, { id: flight.id, inputs: [first] });
  waiting.shift()?.scored(Float64Array.of(0.25));
  assert.deepEqual(events, ['begun']);
  thread.resolve(failed([last], 2));
  await prepared;
  assert.deepEqual(events, ['begun']);
  waiting.shift()?.scored(Float64Array.of(0.75));
  assert.deepEqual(events, ['begun', 'over']);
  assert.deepEqual(run.scores, [0.25, 0.75]);
  assert.equal(slots.freeCount, SLOTS);
});

test('an announcement that comes after the result is taken before it', async () => {
  const { slots, waiting, path, flight, thread, prepared } = takeOff();
  const [first, last] = inputs(slots, 2) as [SlottedInput, SlottedInput];
  thread.resolve(failed([last], 2));
  // For the result to arrive.
  await Promise.resolve();
  acceptInputs(path, { id: flight.id, inputs: [first] });
  await prepared;
  assert.deepEqual(
    waiting.map(({ slot }) => slot),
    [first.slot, last.slot],
  );
});

test('what stops a flight gives back what waits, what is being scored, and what comes later', async () => {
  const abort = new AbortController();
  const { slots, waiting, control, path, run, events, flight, thread, prepared } = takeOff(abort.signal);
  const four = inputs(slots, SLOTS);
  acceptInputs(path, { id: flight.id, inputs: four.slice(0, 2) });
  const job = waiting.shift();
  const reason = new Error('gone');
  abort.abort(reason);
  assert.ok(control.isStopped(0), 'the thread is told');
  assert.equal(run.failures[0], reason);
  assert.equal(slots.freeCount, 1);
  // Its announcement was lost: nobody may wait for it.
  thread.resolve(failed(four.slice(3), SLOTS));
  await prepared;
  flight.close();
  acceptInputs(path, { id: flight.id, inputs: four.slice(2, 3) });
  assert.deepEqual(events, ['begun'], 'one is still being scored');
  job?.scored(Float64Array.of(0.5));
  assert.deepEqual(events, ['begun', 'over']);
  assert.equal(slots.freeCount, SLOTS);
});

test('a thread that dies ends the flight', async () => {
  const { events, thread, prepared } = takeOff();
  thread.reject(new Error('died'));
  await assert.rejects(prepared, /died/);
  assert.deepEqual(events, ['begun', 'over']);
});

test('a flight that leaves the queue was never in work', async () => {
  const { path } = takeOff();
  const events: string[] = [];
  const watch = { begun: () => void events.push('begun'), over: () => void events.push('over') };
  const flight = new Flight(path, { owner: { group: 'b' }, model: 0, run: new Run(), watch });
  await assert.rejects(
    flight.prepare({ run: () => Promise.reject(new Error('left')) }, () => {}),
    /left/,
  );
  assert.deepEqual(events, []);
});
