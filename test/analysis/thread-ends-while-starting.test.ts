// SPDX-License-Identifier: Apache-2.0
//
// A thread ended while it starts must not end the process. In a separate process, since a failure would end this one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inputTextOf } from '../../src/analysis/models/input-text.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { packageDir } from '../../src/base/config/package-dir.js';

const rounds = 40;

test('threads that end while the addon starts do not end the process', async () => {
  const { models } = await loadManifest(path.join(packageDir, 'models'));
  const input = models.map(inputTextOf)[0];
  const addonUrl = new URL('../../src/base/addon/addon.js', import.meta.url).href;
  const worker = `
    import { workerData } from 'node:worker_threads';
    const { loadAddon } = await import(workerData.addonUrl);
    const { Preparer } = loadAddon();
    for (let i = 0; i < 40; i++) new Preparer(workerData.input);`;
  const main = `
    import { Worker } from 'node:worker_threads';
    const source = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(worker)}));
    const workerData = { addonUrl: ${JSON.stringify(addonUrl)}, input: ${JSON.stringify(input)} };
    for (let round = 0; round < ${rounds}; round++) {
      const threads = [0, 1].map(() => new Worker(source, { workerData }));
      await new Promise((resolve) => setTimeout(resolve, 20 + (round * 60) / ${rounds}));
      await Promise.all(threads.map((thread) => thread.terminate()));
    }`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', main]);
  assert.equal(stderr, '');
});

/** Tells for each module that a pool loads what Node.js made of it. */
const watchedLoading = `
  import Module from 'node:module';
  import { BroadcastChannel, isMainThread } from 'node:worker_threads';
  const load = Module._load;
  if (!isMainThread) Module._load = (file, ...rest) => {
    const loaded = load(file, ...rest);
    if (/-worker\\.js$/.test(file)) {
      const loads = new BroadcastChannel('loads');
      loads.postMessage(typeof loaded);
      loads.close();
    }
    return loaded;
  };`;

// While Node.js makes a copy of an ES module for `require`, the end of the thread aborts the process: once in about 20 tries.
test('no pool loads a module of which Node.js makes a copy', async () => {
  const program = fileURLToPath(new URL('../support/each-pool.js', import.meta.url));
  const preload = `data:text/javascript,${encodeURIComponent(watchedLoading)}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', preload, program]);
  assert.deepEqual(stdout.trim().split('\n'), ['function', 'function', 'function']);
});
