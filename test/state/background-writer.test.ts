// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackgroundWriter } from '../../src/state/records/background-writer.js';

test('while one attempt waits no further ones queue up, so that the end comes soon after it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let attempts = 0;
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const writer = new BackgroundWriter(
    async () => {
      attempts++;
      await held;
    },
    { everyMs: 500, onError: (error) => assert.fail(String(error)) },
  );
  void writer.flush();
  await Promise.resolve();
  t.mock.timers.tick(60_000);
  const closed = writer.close();
  goOn();
  await closed;
  assert.equal(attempts, 2);
});
