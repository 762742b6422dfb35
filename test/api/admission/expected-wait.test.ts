// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpectedWait, type Turn } from '../../../src/api/admission/expected-wait.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';

/** Threads that take `stepMs` from one finished request to the next, and a clock set by hand. */
function simulate(targetMs: number, stepMs: number, parallel = 2) {
  const clock = { ms: 1000 };
  const wait = new ExpectedWait({ targetMs, parallel, nowMs: () => clock.ms });
  const queue: Turn[] = [];
  const ask = (key: string): ServiceError | undefined => {
    const turn = wait.enter(key);
    if (turn instanceof ServiceError) return turn;
    turn.begin();
    queue.push(turn);
    return undefined;
  };
  /** A turn whose body has not arrived yet. */
  const enter = (key: string): Turn => {
    const turn = wait.enter(key);
    assert.ok(!(turn instanceof ServiceError));
    return turn;
  };
  const work = (): void => {
    clock.ms += stepMs;
    queue.shift()?.end(true);
  };
  /** Sends more than can be done until the duration of requests is known. */
  const settle = (): void => {
    for (let i = 0; i < 400; i++) {
      for (let j = 0; j < 4; j++) ask('settling');
      work();
    }
    while (queue.length > 0) work();
  };
  return { clock, wait, queue, ask, enter, work, settle };
}

/** The number of requests of a key that are admitted in a row. */
function fill({ ask }: ReturnType<typeof simulate>, key: string): number {
  let admitted = 0;
  while (ask(key) === undefined) admitted++;
  return admitted;
}

test('the queue is as long as can be worked off in the time, whatever a request takes', () => {
  for (const stepMs of [5, 20, 100]) {
    const simulation = simulate(1000, stepMs);
    simulation.settle();
    const admitted = fill(simulation, 'a');
    assert.ok(Math.abs(admitted - 1000 / stepMs) <= 1 + 100 / stepMs, `${admitted} at ${stepMs} ms`);
  }
});

test('with requests that take long, the threads have work, and as much again waits', () => {
  const simulation = simulate(1000, 5000, 4);
  simulation.settle();
  assert.equal(fill(simulation, 'a'), 8);
});

test('the time that requests take is measured while threads are busy, not while little is asked', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const before = fill(simulation, 'a');
  while (simulation.queue.length > 0) simulation.work();
  for (let i = 0; i < 500; i++) {
    simulation.ask('b');
    simulation.clock.ms += 5000;
    simulation.work();
  }
  assert.equal(fill(simulation, 'a'), before);
});

test('requests that end together, as a batch does, do not make the time nothing', () => {
  const simulation = simulate(1000, 0);
  for (let batch = 0; batch < 300; batch++) {
    while (simulation.ask('a') === undefined && simulation.queue.length < 200);
    simulation.clock.ms += 80;
    for (let i = 0; i < 4; i++) simulation.work();
  }
  for (const turn of simulation.queue.splice(0)) turn.end(false);
  const admitted = fill(simulation, 'a');
  assert.ok(admitted > 35 && admitted < 70, `${admitted}`);
});

test('clients that go away in crowds do not make the time short', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const before = fill(simulation, 'a');
  for (let round = 0; round < 20; round++) {
    for (const turn of simulation.queue.splice(0)) turn.end(false);
    fill(simulation, 'a');
  }
  assert.equal(simulation.queue.length, before);
});

test('a key with nothing in the queue gets in when a greedy one has filled it', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const greedy = fill(simulation, 'greedy');
  assert.equal(simulation.ask('b'), undefined);
  assert.equal(simulation.ask('c'), undefined);
  assert.notEqual(simulation.ask('greedy'), undefined);
  // From now on it has a third of the places, and earlier requests are in its way.
  for (let done = 0; done < greedy / 2; done++) simulation.work();
  assert.notEqual(simulation.ask('greedy'), undefined);
});

test('keys share the queue evenly, and its length stays bounded however many they are', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const keys = Array.from({ length: 1000 }, (_, i) => `key ${i}`);
  let admitted = 0;
  for (let round = 0; round < 3; round++) {
    for (const key of keys) if (simulation.ask(key) === undefined) admitted++;
  }
  assert.ok(admitted <= 2 * 50 + 5, `${admitted}`);
});

test('bodies that are slow to arrive keep nobody out, and wait like others once they are there', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const { wait, clock } = simulation;
  const slow: Turn[] = [];
  for (let i = 0; i < 40; i++) slow.push(simulation.enter('slow'));
  assert.ok(wait.size === 40);
  clock.ms += 600;
  assert.equal(simulation.ask('b'), undefined);
  assert.equal(wait.size, 1);
  for (const turn of slow) turn.begin();
  assert.equal(wait.size, 41);
  for (const turn of slow) {
    turn.end(true);
    turn.end(true);
  }
  assert.equal(wait.size, 1);
});

test('many bodies that arrive together after all find the queue full', () => {
  const simulation = simulate(1000, 20);
  simulation.settle();
  const { wait, clock } = simulation;
  const slow: Turn[] = [];
  for (let i = 0; i < 300; i++) {
    slow.push(simulation.enter('slow'));
    clock.ms += 600;
  }
  let refused = 0;
  for (const turn of slow) {
    try {
      turn.begin();
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.key === 'OVERLOADED');
      refused++;
    }
  }
  assert.ok(refused > 150 && refused < 250, `${refused}`);
  for (const turn of slow) turn.end(true);
  assert.equal(wait.size, 0);
});

test('Retry-After follows the backlog, and spreads those who keep to it over time', () => {
  const simulation = simulate(5000, 100);
  simulation.settle();
  fill(simulation, 'a');
  const first = simulation.ask('a')?.retryAfterS ?? 0;
  assert.ok(first >= 5 && first <= 6, `${first}`);
  const times = Array.from({ length: 100 }, () => simulation.ask('a')?.retryAfterS ?? 0);
  // A hundred refused requests need 10 s more, so the last one's retry time is 10 s longer, and no second is
  // crowded.
  assert.ok((times.at(-1) ?? 0) >= first + 9 && (times.at(-1) ?? 0) <= first + 11, `${times.at(-1)}`);
  for (const second of new Set(times)) {
    assert.ok(times.filter((time) => time === second).length <= 12);
  }
  // Waits told to a flood do not apply to others.
  fill(simulation, 'b');
  assert.ok((simulation.ask('b')?.retryAfterS ?? 99) <= first + 3);
  for (let i = 0; i < 10_000; i++) simulation.ask('a');
  assert.equal(simulation.ask('a')?.retryAfterS, 60);
  // As time passes, so does the backlog.
  while (simulation.queue.length > 0) simulation.work();
  simulation.clock.ms += 60_000;
  assert.equal(simulation.wait.retryAfterS('a'), 1);
});
