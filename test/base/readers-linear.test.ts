// SPDX-License-Identifier: Apache-2.0
//
// Double the input takes at most 2.2 times as long, for every reader of foreign data: measured over two doublings, in processor
// time of all threads, as the best and as the median of several rounds, so that a busy machine changes nothing: one lucky round of
// the smaller input spoils the growth of the best, many unlucky ones that of the median, and nonlinear work shows in both.
// Outgrowing a cache or the young generation costs extra once; nonlinear work does so each time. So the lowest growth counts, in a
// separate process whose young generation has room for everything.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inputOf, readers } from '../support/readers.js';

const MOST_PER_DOUBLING = 2.2;
const LEAST_ROUNDS = 2;
const MOST_ROUNDS = 40;
/** A reader this far from linear stays so. */
const CLEARLY_MORE = 3;
const ROUNDS_FOR_CLEARLY_MORE = 8;
/** Shorter times cannot be told from noise. */
const LEAST_MS = 8;
const DOUBLINGS = 2;

type Read = (input: Buffer) => unknown;

async function cpuMsOf(read: Read, input: Buffer, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) {
    try {
      await read(input);
    } catch {
      // A refusal also takes its time.
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

const growths = (timesMs: readonly number[]): number[] =>
  timesMs.slice(1).map((ms, i) => ms / (timesMs[i] as number));

/** The growth in time for double the input. @param inputFor makes an input of this many bytes */
async function growthOf(read: Read, bytes: number, inputFor: (bytes: number) => Buffer): Promise<number> {
  const inputs = Array.from({ length: DOUBLINGS + 1 }, (_, i) => inputFor(bytes / 2 ** (DOUBLINGS - i)));
  const [smallest] = inputs as [Buffer];
  const onceMs = Math.min(await cpuMsOf(read, smallest, 1), await cpuMsOf(read, smallest, 1));
  const times = Math.ceil(LEAST_MS / Math.max(onceMs, 0.05));
  const roundsMs: number[][] = inputs.map(() => []);
  for (let round = 1; ; round++) {
    for (const [i, input] of inputs.entries()) roundsMs[i]?.push(await cpuMsOf(read, input, times));
    const bestMs = roundsMs.map((ms) => Math.min(...ms));
    const growth = Math.min(...growths(bestMs), ...growths(roundsMs.map(median)));
    if (round >= LEAST_ROUNDS && growth <= MOST_PER_DOUBLING) return growth;
    if (round >= ROUNDS_FOR_CLEARLY_MORE && growth > CLEARLY_MORE) return growth;
    if (round >= MOST_ROUNDS) return growth;
  }
}

const ROOM_FOR_ALL = ['--min-semi-space-size=256', '--max-semi-space-size=256', '--single-threaded-gc'];
const hasRoom = ROOM_FOR_ALL.every((option) => process.execArgv.includes(option));
const measured = { skip: !hasRoom };

test('with room for all that is read', { skip: hasRoom }, () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [...ROOM_FOR_ALL, '--test-reporter=spec', fileURLToPath(import.meta.url)],
    { encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined } },
  );
  assert.equal(status, 0, stdout);
});

test('the measure tells linear time from quadratic', measured, async () => {
  const trimsAnew: Read = (input) => {
    let text = '';
    for (let at = 0; at < input.length && text.trim() === ''; at += 1024) {
      text += input.toString('latin1', at, at + 1024);
    }
  };
  const countsOnce: Read = (input) => input.toString('latin1').split(' ').length;
  const spaces = (bytes: number): Buffer => Buffer.alloc(bytes, ' ');
  assert.ok((await growthOf(trimsAnew, 1 << 18, spaces)) > 3);
  assert.ok((await growthOf(countsOnce, 2 << 20, spaces)) <= MOST_PER_DOUBLING);
});

for (const { name, bytes, inputs, open } of readers) {
  test(`${name} is read in linear time`, measured, async (t) => {
    const read = await open(t);
    for (const [what, parts] of Object.entries(inputs)) {
      const growth = await growthOf(read, bytes, (size) => inputOf(parts, size));
      assert.ok(growth <= MOST_PER_DOUBLING, `${what}: ${growth.toFixed(2)} times as long for twice as much`);
    }
  });
}
