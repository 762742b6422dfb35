// SPDX-License-Identifier: Apache-2.0
//
// Uploads to a bucket, which does not report them: the server looks for them while their links live, and they become
// jobs once.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { AwaitedUploads, TooManyUploads } from '../../src/jobs/queue/awaited-uploads.js';
import type { ListedJob } from '../../src/jobs/queue/job.js';
import { uploadsToAwait } from '../../src/jobs/routes/upload-jobs.js';
import { UploadWatch } from '../../src/jobs/work/upload-watch.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import type { S3ObjectState } from '../../src/state/storage/s3-object-source.js';
import { someDetector } from '../support/analyser-double.js';
import { onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

const NAME = 'folder/analysis/calls/day 1.wav';
const owner = { account: 'a', keyId: 'key_a' };
const MIN_BYTES = 1000;
const LIFETIME_S = 900;

class Bucket {
  readonly #objects = new Map<string, S3ObjectState>();
  looks = 0;

  put(name: string, { bytes = MIN_BYTES, storedAtMs = Date.now() } = {}): void {
    // The answer for an empty object is 416, without the time.
    const isEmpty = bytes === 0;
    this.#objects.set(
      name,
      isEmpty ? { bytes, storedAtMs: undefined, etag: '' } : { bytes, storedAtMs, etag: `"${bytes}"` },
    );
  }

  async stateOf(name: string): Promise<S3ObjectState> {
    this.looks++;
    const found = this.#objects.get(name);
    if (found === undefined) throw new ServiceError('OBJECT_NOT_FOUND');
    return found;
  }
}

interface Host extends JobParts {
  readonly awaited: AwaitedUploads;
  /** Without the wait between two searches. */
  lookAgain(): Promise<void>;
  jobsMade(): Promise<readonly ListedJob[]>;
  namesAwaited(): Promise<unknown[]>;
}

function hostOf(t: TestContext, jobParts: JobParts, bucket: Bucket, home = 'bucket'): Host {
  const { jobs, database } = jobParts;
  const awaited = new AwaitedUploads(database, home);
  const log = pino({ level: 'silent' });
  const detectors = () => [someDetector];
  const parts = { awaited, bucket, home, jobs, detectors };
  const watch = new UploadWatch({ ...parts, minBytes: MIN_BYTES, everyMs: 10, log });
  t.after(() => watch.close());
  return {
    ...jobParts,
    awaited,
    async lookAgain() {
      const before = bucket.looks;
      await database.execute('UPDATE awaited_uploads SET look_at_ms = 0');
      // Nothing is left to find if a search in progress has found the last one.
      const isNoneLeft = async (): Promise<boolean> =>
        (await database.query('SELECT name FROM awaited_uploads')).length === 0;
      await eventually(async () => bucket.looks > before || (await isNoneLeft()), 'it is looked for');
    },
    jobsMade: async () => (await jobs.list('a', {}, 100)).jobs,
    namesAwaited: async () =>
      (await database.query('SELECT name FROM awaited_uploads ORDER BY name')).map(({ name }) => name),
  };
}

onEachQueue('an upload becomes one job of its account, however many hosts look for it', async (open, t) => {
  const bucket = new Bucket();
  const hosts = [hostOf(t, await open(), bucket), hostOf(t, await open(), bucket)] as const;
  const [host] = hosts;
  await host.awaited.expect([NAME, 'folder/analysis/never'], owner, LIFETIME_S);
  await host.lookAgain();
  assert.deepEqual(await host.jobsMade(), []);
  bucket.put(NAME);
  await host.lookAgain();
  await eventually(async () => (await host.namesAwaited()).length === 1, 'it is no longer awaited');
  await Promise.all(hosts.map((each) => each.lookAgain()));
  const [job, ...others] = await host.jobsMade();
  assert.ok(job && others.length === 0);
  assert.deepEqual([job.account, job.keyId, job.task], ['a', 'key_a', 'predict']);
  assert.deepEqual(JSON.parse(job.source), { object: NAME, resultObject: 'folder/results/calls/day 1.wav' });
  assert.deepEqual(await host.namesAwaited(), ['folder/analysis/never']);
});

onEachQueue(
  'a later upload of the same key is analysed, and the one that was there before is not',
  async (open, t) => {
    const bucket = new Bucket();
    const host = hostOf(t, await open(), bucket);
    bucket.put(NAME, { storedAtMs: Date.now() - 3_600_000 });
    await host.awaited.expect([NAME], owner, LIFETIME_S);
    await host.lookAgain();
    assert.deepEqual(await host.jobsMade(), [], 'it is of an hour ago');
    const storedAtMs = Date.now();
    bucket.put(NAME, { storedAtMs });
    await host.lookAgain();
    await eventually(async () => (await host.jobsMade()).length === 1, 'it is analysed');
    await host.awaited.expect([NAME], owner, LIFETIME_S);
    await host.lookAgain();
    await host.lookAgain();
    assert.equal((await host.jobsMade()).length, 1, 'the same upload');
    bucket.put(NAME, { storedAtMs: storedAtMs + 1000 });
    await host.lookAgain();
    await eventually(async () => (await host.jobsMade()).length === 2, 'the same bytes, sent again');
  },
);

onEachQueue(
  'a small upload is left alone, also while a large one of its key is on its way',
  async (open, t) => {
    const bucket = new Bucket();
    const host = hostOf(t, await open(), bucket);
    bucket.put(NAME, { bytes: MIN_BYTES - 1, storedAtMs: Date.now() - 60_000 });
    await host.awaited.expect([NAME, 'folder/analysis/small'], owner, LIFETIME_S);
    bucket.put('folder/analysis/small', { bytes: MIN_BYTES - 1 });
    await host.lookAgain();
    await eventually(async () => (await host.namesAwaited()).length === 1, 'the small one is forgotten');
    assert.deepEqual(await host.jobsMade(), []);
    bucket.put(NAME);
    await host.lookAgain();
    await eventually(async () => (await host.jobsMade()).length === 1, 'the large one is analysed');
  },
);

onEachQueue('an empty file under the key of an upload does not end the wait for it', async (open, t) => {
  const bucket = new Bucket();
  const host = hostOf(t, await open(), bucket);
  bucket.put(NAME, { bytes: 0 });
  await host.awaited.expect([NAME], owner, LIFETIME_S);
  await host.lookAgain();
  await host.lookAgain();
  bucket.put(NAME);
  await host.lookAgain();
  await eventually(async () => (await host.jobsMade()).length === 1, 'the upload is analysed');
});

onEachQueue('beyond the limit of jobs, an upload waits', async (open, t) => {
  const bucket = new Bucket();
  const host = hostOf(t, await open({ maxUnfinished: 1 }), bucket);
  const other = 'folder/analysis/other';
  for (const name of [NAME, other]) bucket.put(name);
  await host.awaited.expect([NAME, other], owner, LIFETIME_S);
  await host.lookAgain();
  await eventually(async () => (await host.jobsMade()).length === 1, 'one is made');
  // Also past the end of its link.
  await host.database.execute('UPDATE awaited_uploads SET until_ms = $1', [Date.now() - 86_400_000]);
  await host.lookAgain();
  await host.lookAgain();
  assert.equal((await host.namesAwaited()).length, 1);
  await host.jobs.cancel('a', (await host.jobsMade())[0]?.id ?? '');
  await host.lookAgain();
  await eventually(async () => (await host.namesAwaited()).length === 0, 'the other one is made');
  assert.equal((await host.jobsMade()).length, 2);
});

onEachQueue('what cannot be made a job for days is forgotten', async (open, t) => {
  const bucket = new Bucket();
  const host = hostOf(t, await open({ maxUnfinished: 1 }), bucket);
  await host.jobs.create(newJob);
  bucket.put(NAME);
  await host.awaited.expect([NAME], owner, LIFETIME_S);
  await host.database.execute('UPDATE awaited_uploads SET until_ms = $1', [Date.now() - 4 * 86_400_000]);
  await host.lookAgain();
  await eventually(async () => (await host.namesAwaited()).length === 0, 'it is forgotten');
  assert.equal((await host.jobsMade()).length, 1);
});

onEachQueue('hosts with another bucket look for their own uploads only', async (open, t) => {
  const [bucket, other] = [new Bucket(), new Bucket()];
  const host = hostOf(t, await open(), bucket);
  const stranger = hostOf(t, await open(), other, 'other bucket');
  // The same name in both: one bucket says nothing about the other.
  await stranger.awaited.expect([NAME, 'folder/analysis/theirs'], owner, LIFETIME_S);
  await host.awaited.expect([NAME], { account: 'b', keyId: 'key_b' }, LIFETIME_S);
  other.put(NAME);
  await stranger.lookAgain();
  await eventually(async () => (await stranger.jobsMade()).length === 1, 'theirs is analysed');
  await host.lookAgain();
  await eventually(async () => (await host.namesAwaited()).length === 2, 'and no longer awaited');
  assert.deepEqual((await host.jobs.list('b', {}, 100)).jobs, []);
  bucket.put(NAME);
  await host.lookAgain();
  await eventually(async () => (await host.jobs.list('b', {}, 100)).jobs.length === 1, 'and ours');
  await eventually(async () => (await host.namesAwaited()).length === 1, 'and no longer awaited');
  assert.deepEqual(await host.namesAwaited(), ['folder/analysis/theirs']);
});

onEachQueue('what never came is forgotten after a while', async (open, t) => {
  const bucket = new Bucket();
  const host = hostOf(t, await open(), bucket);
  await host.awaited.expect([NAME], owner, LIFETIME_S);
  // As if the link's life and the hour after it had passed.
  await host.database.execute('UPDATE awaited_uploads SET until_ms = 0');
  await host.lookAgain();
  await eventually(async () => (await host.namesAwaited()).length === 0, 'it is forgotten');
  assert.deepEqual(await host.jobsMade(), []);
});

onEachQueue('looks come soon at first, and less often the longer it takes', async (open) => {
  const { database } = await open();
  const awaited = new AwaitedUploads(database, 'bucket');
  await awaited.expect([NAME], owner, LIFETIME_S);
  const pauseMs = async (ageMs: number): Promise<number> => {
    await database.execute('UPDATE awaited_uploads SET look_at_ms = 0, asked_at_ms = until_ms - $1', [
      LIFETIME_S * 1000 + 3_600_000,
    ]);
    await database.execute('UPDATE awaited_uploads SET asked_at_ms = asked_at_ms - $1', [ageMs]);
    assert.equal((await awaited.due(10)).length, 1);
    assert.equal((await awaited.due(10)).length, 0, 'once');
    const [row] = await database.query<{ ms: number }>(
      'SELECT look_at_ms - asked_at_ms AS ms FROM awaited_uploads',
    );
    return (row?.ms ?? 0) - ageMs;
  };
  const within = (ms: number, least: number, most: number) => assert.ok(ms >= least && ms < most, `${ms} ms`);
  within(await pauseMs(0), 2000, 60_000);
  within(await pauseMs(100_000), 20_000, 60_000);
  within(await pauseMs(10_000_000), 60_000, 120_000);
});

onEachDatabase(
  'an account has a limited number of awaited uploads, and what nobody looks for goes',
  async (connect) => {
    const database = connect();
    await migrate(database, migrations);
    const awaited = new AwaitedUploads(database, 'bucket', 3);
    const names = async () =>
      (await database.query('SELECT name FROM awaited_uploads ORDER BY name')).map(({ name }) => name);
    await awaited.expect(['a/1', 'a/2'], owner, LIFETIME_S);
    await assert.rejects(awaited.expect(['a/3', 'a/4'], owner, LIFETIME_S), TooManyUploads);
    assert.deepEqual(await names(), ['a/1', 'a/2'], 'all of a request or none');
    const onLinks = uploadsToAwait({ analyseUploads: 'all', storageLinkLifetimeS: LIFETIME_S }, awaited);
    await assert.rejects(onLinks?.(['a/3', 'a/4'], owner) ?? assert.fail(), { key: 'TOO_MANY_UPLOADS' });
    await awaited.expect(['a/2', 'a/3'], owner, LIFETIME_S);
    await awaited.expect(['a/1', 'a/2', 'a/3'], owner, LIFETIME_S);
    // Uploads to another bucket count as well.
    const elsewhere = new AwaitedUploads(database, 'other bucket', 3);
    await assert.rejects(elsewhere.expect(['a/4'], owner, LIFETIME_S), TooManyUploads);
    await awaited.expect(['b/1'], { account: 'b', keyId: 'key_b' }, LIFETIME_S);
    await database.execute("UPDATE awaited_uploads SET until_ms = 1 WHERE name IN ('a/1', 'b/1')");
    await elsewhere.expect(['a/4'], owner, LIFETIME_S);
    assert.deepEqual(await names(), ['a/2', 'a/3', 'a/4', 'b/1']);
    // They may have arrived while nobody could look.
    await database.execute("UPDATE awaited_uploads SET until_ms = $1 WHERE account = 'a'", [
      Date.now() - 86_400_000,
    ]);
    await awaited.expect(['a/5', 'a/6', 'a/7'], owner, LIFETIME_S);
    assert.deepEqual(await names(), ['a/2', 'a/3', 'a/4', 'a/5', 'a/6', 'a/7', 'b/1']);
  },
);

onEachDatabase('an upload is looked for beside a thousand of another account', async (connect) => {
  const database = connect();
  await migrate(database, migrations);
  const awaited = new AwaitedUploads(database, 'bucket');
  const names = Array.from({ length: 1000 }, (_, i) => `folder/analysis/${i}`);
  await awaited.expect(names, { account: 'busy', keyId: 'k' }, LIFETIME_S);
  await awaited.expect([NAME], owner, LIFETIME_S);
  // All are due, and that of the other account last.
  await database.execute(
    "UPDATE awaited_uploads SET look_at_ms = CASE account WHEN 'busy' THEN 1 ELSE 2 END",
  );
  const due = await awaited.due(64);
  assert.equal(due.length, 64);
  assert.ok(due.some(({ name }) => name === NAME));
});
