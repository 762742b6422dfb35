// SPDX-License-Identifier: Apache-2.0
//
// The client's methods for profiles get what a raw request gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VeravoxClient, VeravoxError } from '../../client/src/index.js';
import { startProfileServer } from '../support/profile-server.js';
import { API_KEY } from '../support/test-server.js';

/** Different recordings of the same kind. */
const files = (count: number, content: string): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => Buffer.from(`${content}#${i}`));

test('profiles are made, listed, read, changed and deleted', async (t) => {
  const server = await startProfileServer(t);
  const client = new VeravoxClient({ baseUrl: server.origin, apiKey: API_KEY, maxRetries: 0 });
  await assert.rejects(
    client.makeProfile('studio', files(10, 'fine')),
    (error) => error instanceof VeravoxError && error.code === 'validation_error' && error.status === 422,
  );
  assert.deepEqual(await client.listProfiles(), []);

  const generated = files(2, 'elsewhere');
  const model = 'detector-medium-2026-11-25';
  const made = await client.makeProfile('studio', files(10, 'flagged'), { generated, model });
  assert.deepEqual([made.version, made.model, made.recordings], [1, model, { genuine: 10, generated: 2 }]);
  await client.makeProfile('studio', files(10, 'strongly flagged'), { model });
  const [listed] = await client.listProfiles();
  assert.equal(listed?.version, 2);
  const raw = async () => (await server.call('GET', `/v1/profiles/studio?model=${model}`)).json;
  assert.deepEqual(await client.getProfile('studio', { model }), await raw());
  assert.equal((await client.useProfileVersion('studio', 1, { model })).version, 1);
  assert.equal((await raw()).version, 1);
  await client.deleteProfile('studio', { model });
  await assert.rejects(client.getProfile('studio'), { code: 'not_found' });
});
