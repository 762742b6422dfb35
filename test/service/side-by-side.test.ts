// SPDX-License-Identifier: Apache-2.0
//
// Two analyses of one upload: the answer does not depend on which of two threads is faster.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { sideBySide } from '../../src/analysis/voiceid/side-by-side.js';

const never = new AbortController().signal;

async function failAfter(turns: number, message: string): Promise<never> {
  for (let i = 0; i < turns; i++) await turn();
  throw new Error(message);
}

for (const [firstTurns, secondTurns] of [
  [0, 5],
  [5, 0],
] as const) {
  test(`if both fail, after ${firstTurns} and ${secondTurns} turns, that of the first counts`, async () => {
    const both = sideBySide(
      never,
      () => failAfter(firstTurns, 'first'),
      () => failAfter(secondTurns, 'second'),
    );
    await assert.rejects(both, /first/);
  });
}

test('a failure of the second waits for the first, and is told if that one succeeds', async () => {
  let firstEnded = false;
  const both = sideBySide(
    never,
    async (signal) => {
      for (let i = 0; i < 5; i++) await turn();
      assert.equal(signal.aborted, false);
      firstEnded = true;
    },
    () => failAfter(0, 'second'),
  );
  await assert.rejects(both, /second/);
  assert.ok(firstEnded);
});

test('a failure of the first aborts the second, and a caller that leaves aborts both', async () => {
  const untilAborted = async (signal: AbortSignal): Promise<never> => {
    while (!signal.aborted) await turn();
    throw signal.reason;
  };
  await assert.rejects(
    sideBySide(never, () => failAfter(1, 'first'), untilAborted),
    /first/,
  );
  const caller = new AbortController();
  const both = sideBySide(caller.signal, untilAborted, untilAborted);
  caller.abort(new Error('gone'));
  await assert.rejects(both, /gone/);
});
