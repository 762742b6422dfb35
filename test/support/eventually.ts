// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Asks until the answer is yes; fails after a minute, which is long because other work may have the machine. */
export async function eventually(isDone: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!(await isDone())) {
    assert.ok(performance.now() < deadlineMs, `${what}, within a minute`);
    await nextTurn();
  }
}
