// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileArena } from '../../src/evaluation/labelled-lists/file-arena.js';
import { mapInFlight } from '../../src/evaluation/labelled-lists/in-flight.js';
import { ListPipeline } from '../../src/evaluation/labelled-lists/list-pipeline.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { until } from '../support/until.js';

/** Work that ends on command. */
function held() {
  let running = 0;
  const ends: (() => void)[] = [];
  return {
    get running() {
      return running;
    },
    endOne: () => ends.shift()?.(),
    work: async <Result>(result: Result): Promise<Result> => {
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      return result;
    },
  };
}

test('a failure ends the work: nothing more is begun, and what was begun is waited for', async () => {
  const begun: number[] = [];
  let ended = 0;
  const working = mapInFlight([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('item 1');
    await new Promise((resolve) => setImmediate(resolve));
    ended++;
  });
  await assert.rejects(working, /item 1/);
  assert.deepEqual(begun, [0, 1]);
  assert.equal(ended, 1);
});

test('of several failures that of the first item counts, whichever comes first', async () => {
  const turnsUntilEnd = [0, 9, 9, 0];
  const lastFirst = mapInFlight([0, 1, 2, 3], 3, async (item) => {
    for (let i = 0; i < (turnsUntilEnd[item] ?? 0); i++)
      await new Promise((resolve) => setImmediate(resolve));
    if (item > 0) throw new Error(`item ${item}`);
  });
  await assert.rejects(lastFirst, /item 1/);
});

test('as many items are worked on as may be, and results keep the order of the items', async () => {
  const items = [0, 1, 2, 3, 4, 5, 6];
  let most = 0;
  let running = 0;
  const working = mapInFlight(items, 3, async (item) => {
    running++;
    most = Math.max(most, running);
    // Odd ones take longer.
    for (let i = 0; i <= (item % 2) * 3; i++) await new Promise((resolve) => setImmediate(resolve));
    running--;
    return item * 10;
  });
  assert.deepEqual(await working, [0, 10, 20, 30, 40, 50, 60]);
  assert.equal(most, 3);
  assert.deepEqual(await mapInFlight([], 3, async () => 1), []);
});

test('a file waits until there is room, and one that never fits is refused at once', async () => {
  const arena = new FileArena(3 * 4096);
  await assert.rejects(
    arena.use(3 * 4096 + 1, async () => {}),
    RangeError,
  );
  const state = held();
  const first = arena.use(2 * 4096, () => state.work('first'));
  const second = arena.use(2 * 4096, () => state.work('second'));
  const small = arena.use(4096, () => state.work('small'));
  await until(() => state.running === 2);
  state.endOne();
  assert.equal(await first, 'first');
  await until(() => state.running === 2);
  state.endOne();
  state.endOne();
  assert.deepEqual(await Promise.all([second, small]), ['second', 'small']);
});

test('room is given back when the work fails', async () => {
  const arena = new FileArena(4096);
  await assert.rejects(
    arena.use(4096, async () => {
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(await arena.use(4096, async (region, content) => region.length + content.length), 8192);
});

test('a list may be very long', async (t) => {
  const modelsDir = writeTinyModels(temporaryFolder(t), 'even');
  const files = Array.from({ length: 200_000 }, (_, i) => `${i}.wav`);
  const content = new Uint8Array(1);
  const contents = new Map(files.map((file) => [file, content]));
  const recordings = files.map((file) => [file]);
  const pipeline = await ListPipeline.start({ ...testConfig, modelsDir }, recordings, contents);
  await pipeline.close();
});
