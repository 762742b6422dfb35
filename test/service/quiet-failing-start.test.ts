// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { whyProbeFailed } from '../../src/analysis/scoring/gpus.js';
import { runCli, temporaryFolder } from '../support/cli.js';

test('a start without the device that was asked for says one thing: why', async (t) => {
  const { status, stdout, stderr } = await runCli(['serve', '--port', '0'], {
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_DEVICE: 'cuda',
    // No GPU, whatever the machine has.
    CUDA_VISIBLE_DEVICES: '',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^veravox: VERAVOX_DEVICE is cuda, but .*\.\n$/);
  assert.doesNotMatch(stdout + stderr, /closed|"level":[56]0|\n +at /);
});

test('a probe that fails has a sentence and no stack', () => {
  const script = fileURLToPath(new URL('../../src/analysis/scoring/cuda-probe.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '/nowhere/model.onnx', '0'], {
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.ok(stdout.trim() !== '');
  assert.doesNotMatch(stdout + stderr, /\n +at |Node\.js v/);
});

const failures: readonly [failure: Parameters<typeof whyProbeFailed>[0], told: string][] = [
  [{ stdout: '\u001b[1;31mno driver\u001b[m\n', stderr: 'a warning' }, 'no driver'],
  [{ stderr: 'a warning\n\u001b[0;93mterminate called\u001b[m\n', signal: 'SIGABRT' }, 'terminate called'],
  [{ stderr: '', signal: 'SIGSEGV' }, 'its process ended by SIGSEGV without a word'],
  [{ killed: true, signal: 'SIGTERM', stderr: 'a warning' }, 'a session took more than 120 s'],
];
for (const [failure, told] of failures) {
  test(`a failed probe is told as "${told}"`, () => assert.equal(whyProbeFailed(failure), told));
}
