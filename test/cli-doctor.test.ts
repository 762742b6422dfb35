// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli, temporaryFolder } from './support/cli.js';

test('doctor names what is missing and ends with 1', async (context) => {
  const folder = temporaryFolder(context);
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: folder,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^missing +models .*manifest\.json/m);
});

test('doctor names versions, models and the device, and ends with 0 when all is there', async (context) => {
  const { status, stdout } = await runCli(['doctor'], { VERAVOX_DATA_DIR: temporaryFolder(context) });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ok +addon .*libavcodec \d+\.\d+\.\d+/m);
  assert.match(stdout, /^ok +onnxruntime +1\.30\.\d+$/m);
  assert.match(stdout, /^ok +device +cpu$/m);
  assert.doesNotMatch(stdout, /^missing/m);
});
