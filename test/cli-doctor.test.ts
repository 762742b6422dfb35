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

test('doctor says why a bucket cannot be used', async (context) => {
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: temporaryFolder(context),
    VERAVOX_STORAGE_BUCKET: 'files',
    VERAVOX_STORAGE_ENDPOINT: 'http://127.0.0.1:1',
    AWS_ACCESS_KEY_ID: 'an-id',
    AWS_SECRET_ACCESS_KEY: 'a-secret',
  });
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^missing +file storage +bucket files on http:\/\/127\.0\.0\.1:1 cannot be listed: .*ECONNREFUSED/m,
  );
});
