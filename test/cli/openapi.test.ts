// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { documentOf } from '../support/openapi.js';

test('veravox openapi prints what a server with the same settings answers', async (t) => {
  const settings = { PORT: '0', VERAVOX_DATA_DIR: temporaryFolder(t), VERAVOX_MAX_PREDICT_BYTES: '123456' };
  const server = new Cli(['serve'], settings);
  t.after(() => server.child.kill());
  const [, origin] = await server.printed(/(http:\/\/[\d.]+:\d+)/);
  const { status, stdout, stderr } = await runCli(['openapi'], settings);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /"x-max-bytes": 123456/);
  assert.deepEqual(JSON.parse(stdout), await documentOf(String(origin)));
  server.child.kill();
  await server.finished;
});
