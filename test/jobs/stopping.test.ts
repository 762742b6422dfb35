// SPDX-License-Identifier: Apache-2.0
//
// A stop does not wait for storage that says nothing: work in the background is given back at once, whatever it waits for.

import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { FetchPolicy } from '../../src/api/fetch/fetch-policy.js';
import { RecordingSources } from '../../src/api/fetch/recording-sources.js';
import { atMost } from '../../src/base/at-most.js';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { type BatchWorkerParts, runBatch } from '../../src/jobs/batches/run-batch.js';
import { AwaitedUploads } from '../../src/jobs/queue/awaited-uploads.js';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { type JobRunnerParts, runJob } from '../../src/jobs/work/job-runner.js';
import { UploadWatch } from '../../src/jobs/work/upload-watch.js';
import type { S3Storage } from '../../src/state/storage/s3-storage.js';
import { recordingEnd, someDetector } from '../support/analyser-double.js';
import { batchWorkerParts } from '../support/batches.js';
import { bucketOf } from '../support/bucket-of.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';
import { type SilentPeer, startSilentHttp } from '../support/silent-peers.js';
import { taken } from '../support/taken-work.js';
import { unhurried } from '../support/turn-limits.js';

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

const NAME = `${'0'.repeat(32)}/analysis/a.wav`;
/** Of the storage: longer than the test. */
const NEVER_MS = 3_600_000;
const GIVE_UP_MS = 60_000;
const timeouts = { stallTimeoutMs: NEVER_MS, totalTimeoutMs: NEVER_MS };
const manifests = new ManifestReader();
after(() => manifests.close());

interface SilentBucket {
  readonly peer: SilentPeer;
  readonly storage: S3Storage;
  readonly sources: RecordingSources;
}

async function silentBucket(t: TestContext): Promise<SilentBucket> {
  const peer = await startSilentHttp(t, 'silent');
  const storage = bucketOf(t, peer.origin, timeouts);
  const sources = new RecordingSources({ storage }, new FetchPolicy(() => [], []), timeouts);
  return { peer, storage, sources };
}

/** Stops it while it waits for the bucket. */
async function stopped<End>(peer: SilentPeer, stop: AbortController, work: Promise<End>): Promise<End> {
  await eventually(() => peer.held() > 0, 'the bucket is asked');
  stop.abort(new Error('The server stops.'));
  assert.ok(await atMost(GIVE_UP_MS, work), 'it stops');
  return work;
}

const jobs: Readonly<Record<string, (bucket: SilentBucket) => Partial<JobRunnerParts>>> = {
  'opens its file': ({ sources }) => ({ openSource: (_, signal) => sources.ofObject(NAME, signal) }),
  'stores its result': ({ storage }) => ({
    store: (name, result) => storage.write(name, Buffer.from(JSON.stringify(result))),
  }),
};

for (const [what, partsWith] of Object.entries(jobs)) {
  onEachQueue(`a job that ${what}`, async (open, t) => {
    const bucket = await silentBucket(t);
    const { jobs, workTable } = await open();
    const source = JSON.stringify({ object: NAME, resultObject: NAME });
    const { job } = await jobs.create({ ...newJob, source });
    const stop = new AbortController();
    const parts: JobRunnerParts = {
      workTable,
      analyser: {
        async *analyseRecording() {
          yield { ...recordingEnd('m'), windows: [{ startS: 0, endS: 5, scores: [0.5] }] };
        },
      },
      openSource: async () => new MemoryByteSource(Buffer.from('any bytes')),
      enroll: () => assert.fail(),
      store: () => assert.fail(),
      maxBytes: 1 << 20,
      maxDurationS: 86_400,
      timeLimitMs: NEVER_MS,
      heartbeatMs: NEVER_MS,
      ...partsWith(bucket),
    };
    const turn = runJob(await taken(workTable), parts, unhurried(stop.signal));
    assert.equal((await stopped(bucket.peer, stop, turn)).outcome, 'given back');
    assert.equal((await jobs.get('a', job.id))?.state, 'queued');
  });
}

const batches: Readonly<Record<string, (bucket: SilentBucket) => Partial<BatchWorkerParts>>> = {
  'opens its manifest': ({ sources }) => ({ openSource: (_, signal) => sources.ofObject(NAME, signal) }),
  'stores its result': ({ storage }) => ({
    // Its line fails at once.
    openSource: async () => new MemoryByteSource(Buffer.from('{}\n')),
    writeFrom: (name, pieces) => storage.writeFrom(name, pieces),
  }),
};

for (const [what, partsWith] of Object.entries(batches)) {
  onEachQueue(`a batch that ${what}`, async (open, t) => {
    const bucket = await silentBucket(t);
    const { jobs, database } = await open();
    const source = JSON.stringify({ manifest: { object: NAME }, resultFolder: '0'.repeat(32) });
    const { job } = await jobs.create({ ...newJob, task: 'batch', source });
    const workTable = new BatchWorkTable(database);
    const work = (await workTable.take()) ?? assert.fail();
    const stop = new AbortController();
    const parts = batchWorkerParts(workTable, manifests, {
      maxLines: 1,
      heartbeatMs: NEVER_MS,
      ...partsWith(bucket),
    });
    const turn = runBatch(work, parts, unhurried(stop.signal));
    assert.equal(await stopped(bucket.peer, stop, turn), 'given back');
    assert.equal((await jobs.get('a', job.id))?.state, 'queued');
  });
}

async function startWatch({ jobs, database }: JobParts, { storage }: SilentBucket) {
  const awaited = new AwaitedUploads(database, 'home');
  const names = Array.from({ length: 40 }, (_, i) => `${NAME}-${i}`);
  await awaited.expect(names, { account: 'a', keyId: 'k' }, 900);
  await database.execute('UPDATE awaited_uploads SET look_at_ms = 0');
  const log = pino({ level: 'silent' });
  const detectors = () => [someDetector];
  return new UploadWatch({
    awaited,
    bucket: storage,
    home: 'home',
    jobs,
    detectors,
    minBytes: 1,
    everyMs: 10,
    log,
  });
}

onEachQueue('a search for uploads', async (open, t) => {
  const bucket = await silentBucket(t);
  const jobParts = await open();
  const watch = await startWatch(jobParts, bucket);
  await eventually(() => bucket.peer.held() > 0, 'the bucket is asked');
  assert.ok(await atMost(GIVE_UP_MS, watch.close()), 'it stops');
  const left = await jobParts.database.query('SELECT name FROM awaited_uploads');
  assert.equal(left.length, 40, 'all are looked for again');
});

test('an object that opens after the stop is closed', async () => {
  const stop = new AbortController();
  let open: (source: MemoryByteSource) => void = () => assert.fail();
  const opening = new Promise<MemoryByteSource>((resolve) => {
    open = resolve;
  });
  const storage = { openSource: () => opening } as unknown as S3Storage;
  const sources = new RecordingSources({ storage }, new FetchPolicy(() => [], []), timeouts);
  const opened = sources.ofObject(NAME, stop.signal);
  stop.abort(new Error('The server stops.'));
  await assert.rejects(opened, /The server stops/);
  const late = new MemoryByteSource(Buffer.from('late'));
  open(late);
  await eventually(() => late.isClosed, 'it is closed');
});
