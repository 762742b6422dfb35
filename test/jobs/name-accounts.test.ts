// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllowedHost } from '../../src/base/config/allowed-host.js';
import { eventually } from '../support/eventually.js';
import { startFakeStorage } from '../support/fake-storage.js';
import { startJobServer } from '../support/job-server.js';
import { OTHER_API_KEY } from '../support/test-keys.js';

test('the lookup of a host counts for the account that names it', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => void response.writeHead(404).end());
  const at = (host: string): string => `http://${host}.example.com:${storage.port}`;
  const allowed = ['predict', 'job', 'hook', 'batch'].map(
    (host) => parseAllowedHost(at(host)) ?? assert.fail(host),
  );
  const asked: string[] = [];
  const server = await startJobServer(
    t,
    { fetchAllowedHosts: allowed, webhookHosts: allowed },
    {
      fetchSurroundings: {
        async resolve(host, account) {
          asked.push(`${host} for ${account}`);
          return [{ address: '127.0.0.1', family: 4 }];
        },
        isPublicAddress: () => true,
      },
    },
  );
  await server.jobParts.jobs.webhookSecrets.create('three', 60_000);
  const send = async (path: string, body: object): Promise<unknown> =>
    (await server.call('POST', path, body, OTHER_API_KEY)).status;
  assert.equal(await send('/v1/predict', { presigned_url: `${at('predict')}/a.wav` }), 400);
  const job = { presigned_url: `${at('job')}/a.wav`, callback_url: `${at('hook')}/end` };
  assert.equal(await send('/v1/jobs', job), 202);
  assert.equal(await send('/v1/batches', { presigned_url: `${at('batch')}/list.csv` }), 202);
  // When it is created, and when it is in work.
  const twice = ['job', 'hook', 'batch'].map((host) => `${host}.example.com for three`);
  await eventually(
    () => twice.every((name) => asked.filter((other) => other === name).length > 1),
    'all hosts are looked up',
  );
  assert.deepEqual(new Set(asked), new Set([...twice, 'predict.example.com for three']));
});
