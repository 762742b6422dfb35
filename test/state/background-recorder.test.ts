// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackgroundRecorder } from '../../src/state/records/background-recorder.js';

test('while one attempt waits no further ones queue up, so that the end comes soon after it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let attempts = 0;
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  class HeldRecorder extends BackgroundRecorder {
    protected async write(): Promise<void> {
      attempts++;
      await held;
    }
  }
  const recorder = new HeldRecorder({ everyMs: 500, onError: (error) => assert.fail(String(error)) });
  void recorder.flush();
  await Promise.resolve();
  t.mock.timers.tick(60_000);
  for (let i = 0; i < 10; i++) void recorder.flush();
  const closed = recorder.close();
  goOn();
  await closed;
  assert.equal(attempts, 2);
});
