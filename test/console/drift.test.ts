// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient, VeravoxClient, VeravoxError } from '../../client/src/index.js';
import { SCORE_BINS } from '../../src/console/drift/score-bins.js';
import { hourOf, ScoreCounts } from '../../src/console/drift/score-counts.js';
import { ScoreTable } from '../../src/console/drift/score-table.js';
import { MIN_CURRENT_FILES, REFERENCE_FILES } from '../../src/console/drift/stability-index.js';
import { someAnalysis, someDetector } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-keys.js';

const HOUR_MS = 3_600_000;
const { id: model, scoreFingerprint: fingerprint } = someDetector;

type JobServer = Awaited<ReturnType<typeof startJobServer>>;

const adminOf = ({ origin }: JobServer) => new AdminClient({ baseUrl: origin, apiKey: ADMIN_API_KEY });

async function driftOf(client: AdminClient, hours?: number) {
  const { models } = await client.getDrift({ hours });
  const found = models.find((each) => each.model === model);
  if (found === undefined) throw new Error('The detector is not there.');
  return found;
}

/** This many files with this score, some hours ago. */
async function addFiles({ database }: JobServer, files: number, score: number, hoursAgo = 0): Promise<void> {
  const counts = new ScoreCounts();
  const atMs = Date.now() - hoursAgo * HOUR_MS;
  for (let i = 0; i < files; i++) {
    counts.countScore({ model, fingerprint }, 'file', score, atMs);
    counts.countScore({ model, fingerprint }, 'window', score, atMs);
  }
  await new ScoreTable(database).add(counts);
}

test('requests and jobs count by the scores of their windows and of the whole', async (t) => {
  const server = await startJobServer(t);
  const user = new VeravoxClient({ baseUrl: server.origin, apiKey: API_KEY });
  const file = new Blob([Buffer.alloc(4000, 1)]);
  await user.predict(file);
  server.analyser.answer = (request) => ({ ...someAnalysis, modelId: request.model, windows: [] });
  await user.predict(file).catch((error: VeravoxError) => assert.equal(error.errorKey, 'NO_SPEECH'));
  const link = await server.store('a.wav', Buffer.alloc(4000, 1));
  await server.call('POST', '/v1/jobs', { presigned_url: link });
  const client = adminOf(server);
  await eventually(async () => (await driftOf(client)).current.files === 2, 'a request and a job');
  const { current, hours, reference, reading, file_index: index } = await driftOf(client);
  // 0.98 and 0.97, whose logits are 3.9 and 3.5.
  const bins = new Array<number>(SCORE_BINS).fill(0);
  assert.deepEqual(current.file_bins, bins.with(12, 2));
  assert.deepEqual(current.window_bins, bins.with(12, 4));
  assert.equal(
    hours.reduce((sum, { files }) => sum + files, 0),
    2,
  );
  assert.deepEqual([reference?.origin, reference?.complete, reference?.files], ['first_files', false, 2]);
  assert.deepEqual([reading, index], ['too_few', null]);
});

test('other scores than before are noticed, and become the new reference if an admin says so', async (t) => {
  const server = await startJobServer(t);
  const client = adminOf(server);
  await addFiles(server, REFERENCE_FILES, 0.01, 48);
  await addFiles(server, MIN_CURRENT_FILES - 1, 0.9);
  assert.equal((await driftOf(client)).reading, 'too_few');
  await addFiles(server, 1, 0.9);
  const drifted = await driftOf(client);
  assert.equal(drifted.reading, 'large');
  assert.ok((drifted.file_index ?? 0) > 1 && (drifted.window_index ?? 0) > 1);
  await assert.rejects(
    () => client.chooseDriftReference({ model }),
    (error) => error instanceof VeravoxError && error.status === 400 && /24 with 300/.test(error.message),
  );
  assert.deepEqual(server.acts, []);
  await addFiles(server, REFERENCE_FILES - MIN_CURRENT_FILES, 0.9);
  assert.deepEqual(await client.chooseDriftReference({ model, hours: 2 }), { model, files: REFERENCE_FILES });
  const after = await driftOf(client);
  assert.deepEqual([after.reading, after.reference?.origin], ['stable', 'chosen']);
  assert.ok(Math.abs(after.file_index ?? 1) < 1e-12);
  assert.deepEqual(server.acts, [
    { event: 'drift_reference_chosen', model, files: REFERENCE_FILES, hours: 2, by: 'key key-4' },
  ]);
});

test('a reference that the audit cannot tell of is not chosen', async (t) => {
  const noteFirst = () => Promise.reject(new Error('no space left'));
  const server = await startJobServer(t, {}, {}, { noteFirst });
  const client = adminOf(server);
  await addFiles(server, REFERENCE_FILES, 0.01);
  await assert.rejects(() => client.chooseDriftReference({ model, hours: 2 }));
  assert.equal((await driftOf(client)).reference?.origin, 'first_files');
});

test('only the hours asked for count', async (t) => {
  const server = await startJobServer(t);
  await addFiles(server, 5, 0.5, 30);
  await addFiles(server, 3, 0.5);
  const client = adminOf(server);
  assert.equal((await driftOf(client)).current.files, 3);
  const longer = await driftOf(client, 40);
  assert.equal(longer.current.files, 8);
  assert.deepEqual(
    longer.hours.map(({ begins_at: at }) => hourOf(Date.parse(at)) * HOUR_MS === Date.parse(at)),
    [true, true],
  );
  for (const hours of [0, 337, 1.5]) {
    await assert.rejects(
      () => client.getDrift({ hours }),
      (error) => error instanceof VeravoxError && error.status === 400,
    );
  }
  await assert.rejects(
    () => client.chooseDriftReference({ model: 'no such model' }),
    (error) => error instanceof VeravoxError && error.status === 400 && /no such model/.test(error.message),
  );
});
