// SPDX-License-Identifier: Apache-2.0
//
// Preloaded by `node --import`: notes all modules loaded by the main thread, in the file MODULE_LOG. On SIGUSR2 it adds those
// loaded by `require`, and whether Node.js tracks every promise.
import { executionAsyncId } from 'node:async_hooks';
import fs from 'node:fs';
import { createRequire, register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const file = process.env.MODULE_LOG ?? '';

/** A promise has its own id if anything in the process, such as a store of AsyncLocalStorage, tracks promises. */
async function followsPromises(): Promise<boolean> {
  const ids = [0, 0].map(() => Promise.resolve().then(() => executionAsyncId()));
  const [first, second] = await Promise.all(ids);
  return first !== second;
}

async function tell(): Promise<void> {
  const required = Object.keys(createRequire(import.meta.url).cache).map((path) => `file://${path}`);
  const end = `follows promises: ${await followsPromises()}`;
  fs.appendFileSync(file, [...required, end, ''].join('\n'));
}

if (isMainThread) {
  register('./module-hooks.js', import.meta.url, { data: { file } });
  process.on('SIGUSR2', () => void tell());
}
