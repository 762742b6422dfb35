// SPDX-License-Identifier: Apache-2.0
//
// An uncaught error ends the server with exit code 1, after requests in flight were answered.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli } from '../support/cli.js';
import { formBody } from '../support/form-body.js';
import { postForm } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';

const faults = {
  exception: "setTimeout(() => { throw new Error('injected'); })",
  rejection: "Promise.reject(new Error('injected'))",
};

/** A server that runs `fault` on SIGUSR2. */
function faultyServer(context: TestContext, fault: string): Cli {
  const preload = `data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(fault)}})`;
  const cli = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_DATA_DIR: temporaryFolder(context),
    VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(context), 'even'),
    NODE_OPTIONS: `--import ${preload}`,
  });
  context.after(() => cli.child.kill('SIGKILL'));
  return cli;
}

for (const [kind, fault] of Object.entries(faults)) {
  test(`an uncaught ${kind} ends the server with 1, and says why`, async (context) => {
    const cli = faultyServer(context, fault);
    const [, port] = await cli.printed(/^veravox is ready on http:\/\/127\.0\.0\.1:(\d+)$/m);
    const [, key = ''] = await cli.printed(/^ {2}(vx_\S+)$/m);
    const content = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
    const form = formBody([{ name: 'file', filename: 'a', content }]);
    const pending = postForm(Number(port), '/v1/predict', form, { headers: { 'x-api-key': key } }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    cli.child.kill('SIGUSR2');
    const { status, stdout } = await cli.finished;
    assert.equal(status, 1);
    assert.match(stdout, /injected/);
    assert.match(stdout, /uncaught error: stopping the server/);
    // It arrived before the stop, or during it, or was refused a connection; never a broken answer.
    const answer = await pending;
    if (typeof answer === 'object') assert.ok([200, 503].includes(answer.status), answer.text);
    else assert.ok(['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(String(answer)));
  });
}
