// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDescriptors, descriptorsNeeded } from '../../src/service/descriptors-needed.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { request } from '../support/http-client.js';
import { writeTinyModels } from '../support/tiny-models.js';

const threads = { prepareThreads: 2, scoringThreads: 2, jobWorkers: 1 };
const withDescriptors = (count: number) => ({
  runner: ['sh', '-c', `ulimit -n ${count} && exec "$@"`, 'sh'],
});

function settings(folder: string): Record<string, string> {
  return {
    PORT: '0',
    VERAVOX_DATA_DIR: `${folder}/data`,
    VERAVOX_MODELS_DIR: writeTinyModels(folder, 'even'),
    VERAVOX_PREPARE_THREADS: '2',
    VERAVOX_SCORING_THREADS: '2',
    VERAVOX_JOB_WORKERS: '1',
  };
}

test('each thread needs some, and the number is said', () => {
  const needed = descriptorsNeeded(threads);
  assert.ok(descriptorsNeeded({ ...threads, prepareThreads: 20 }) > needed + 18);
  assert.match(checkDescriptors(threads, needed), new RegExp(`^${needed} allowed, ${needed} needed`));
  assert.throws(
    () => checkDescriptors(threads, needed - 1),
    new RegExp(
      `At least ${needed} file descriptors are needed.* only ${needed - 1}\\. Raise the limit: ulimit -n`,
    ),
  );
});

test('with too few the server says so and does not start, and doctor says it, too', async (t) => {
  const env = settings(temporaryFolder(t));
  const { status, stdout, stderr } = await runCli(['serve'], env, withDescriptors(64));
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^veravox: At least \d+ file descriptors are needed.* only 64\. /);
  assert.match(
    (await runCli(['doctor'], env, withDescriptors(64))).stdout,
    /^failed +file descriptors .* only 64\./m,
  );
});

test('with just as many as it needs, it starts and answers', async (t) => {
  const server = new Cli(
    ['serve'],
    settings(temporaryFolder(t)),
    withDescriptors(descriptorsNeeded(threads)),
  );
  t.after(() => server.child.kill());
  const [, port = ''] = await server.printed(/on http:\/\/127\.0\.0\.1:(\d+)/);
  assert.equal((await request(Number(port), '/readyz')).status, 200);
});
