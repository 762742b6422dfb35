// SPDX-License-Identifier: Apache-2.0
//
// Threads that decode run under a filter of system calls, and no others.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { eventually } from '../support/eventually.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { testConfig } from '../support/test-server.js';

const prepareThreads = 3;
const addonUrl = new URL('../../src/base/addon/addon.js', import.meta.url).href;

/** The number of threads of this process with a filter. */
function filteredThreads(): number {
  return fs
    .readdirSync('/proc/self/task')
    .map(statusOf)
    .filter((status) => /^Seccomp:\s+2$/m.test(status)).length;
}

/** Empty if the thread has ended meanwhile. */
function statusOf(thread: string): string {
  try {
    return fs.readFileSync(`/proc/self/task/${thread}/status`, 'utf8');
  } catch {
    return '';
  }
}

const before = filteredThreads();

async function withPipeline(decoderSandbox: 'required' | 'off', check: () => void): Promise<void> {
  const config = { ...testConfig, modelsDir: shippedModelsDir, prepareThreads, decoderSandbox };
  const analyser = await startPipeline(config, new SharedArrayBuffer(0));
  try {
    assert.equal(analyser.status().sandboxFailure, undefined);
    check();
  } finally {
    await analyser.close();
  }
}

test('each decoder thread has a filter, and no other thread', async () => {
  await withPipeline('required', () => assert.equal(filteredThreads() - before, prepareThreads));
});

test('the filter can be switched off', async () => {
  // A joined thread is still listed for a moment.
  await eventually(() => filteredThreads() === before, 'the threads of the first pipeline have ended');
  await withPipeline('off', () => assert.equal(filteredThreads(), before));
});

test('a thread with the filter opens no file and starts no program', async () => {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    import fs from 'node:fs';
    import { spawnSync } from 'node:child_process';
    const { loadAddon } = await import(workerData.addonUrl);
    const failure = loadAddon().sandboxThisThread();
    const codeOf = (deed) => { try { deed(); return 'done'; } catch (error) { return error.code; } };
    parentPort.postMessage([
      failure,
      codeOf(() => fs.readFileSync('/etc/passwd')),
      codeOf(() => fs.writeFileSync('/tmp/never-written', '')),
      codeOf(() => fs.unlinkSync('/tmp/never-written')),
      codeOf(() => { const { error } = spawnSync('/bin/true'); if (error) throw error; }),
    ]);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: { addonUrl },
  });
  const told = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  assert.deepEqual(told, [undefined, 'EPERM', 'EPERM', 'EPERM', 'EPERM']);
});
