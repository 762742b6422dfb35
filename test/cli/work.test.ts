// SPDX-License-Identifier: Apache-2.0
//
// `veravox work`: a worker on another host does the jobs of a server without workers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { enrollmentOf } from '../../client/src/job-result.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { Cli, runCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { type Collector, startCollector } from '../support/otlp-collector.js';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { averageSpectrum } from '../support/speaker-models.js';
import { tinyEntry, writeManifest } from '../support/tiny-models.js';
import { longMonoWav } from '../support/wav.js';

let collector: Collector;
const afterwards: (() => unknown)[] = [];
let folder: string;
let postgres: PostgresServer;
let env: Record<string, string>;
let client: VeravoxClient;
const running: Cli[] = [];

const envOf = (host: string, more = {}): Record<string, string> => ({
  ...env,
  VERAVOX_DATA_DIR: path.join(folder, host),
  ...more,
});

function start(command: string, settings: Record<string, string>): Cli {
  const cli = new Cli([command], settings);
  running.push(cli);
  return cli;
}

function modelsDir(): string {
  const at = fs.mkdtempSync(path.join(folder, 'models-'));
  const { entry, file } = averageSpectrum();
  fs.writeFileSync(path.join(at, entry.file), file);
  writeManifest(at, [tinyEntry(at, 'apollo-4-5-2026-03-26', 'even'), entry]);
  return at;
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-work-'));
  postgres = await startPostgres();
  const common = {
    PORT: '0',
    VERAVOX_MODELS_DIR: modelsDir(),
    // The tiny detector calls everything AI-generated.
    VERAVOX_ENROLL_AUTHENTICITY: 'flag',
    VERAVOX_ANALYSE_UPLOADS: 'off',
  };
  // A third server's data folder is the bucket.
  const storage = start('serve', { ...common, VERAVOX_DATA_DIR: path.join(folder, 'storage') });
  const [, endpoint = ''] = await storage.printed(/is ready on (http:\S+)\n/);
  const secrets = loadStorageSecrets(path.join(folder, 'storage'));
  env = {
    ...common,
    VERAVOX_DATABASE_URL: await postgres.createDatabase(),
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: secrets.accessKeyId,
    AWS_SECRET_ACCESS_KEY: secrets.secretAccessKey,
  };
  collector = await startCollector({
    after: (close = () => {}) => void afterwards.push(close as () => void),
  });
  env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  const server = start('serve', envOf('server', { VERAVOX_JOB_WORKERS: '0' }));
  const [, baseUrl = ''] = await server.printed(/is ready on (http:\S+)\n/);
  const [, apiKey = ''] = await server.printed(/^ {2}(vx_\S+)$/m);
  client = new VeravoxClient({ baseUrl, apiKey });
});

after(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ finished }) => finished));
  for (const close of afterwards) close();
  await postgres.remove();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Fails as soon as the worker ends. */
function jobDoneBy(worker: Cli, id: string): ReturnType<VeravoxClient['waitForJob']> {
  const ended = worker.finished.then(({ status, stderr }) =>
    assert.fail(`It ended with ${status}: ${stderr}`),
  );
  ended.catch(() => {});
  return Promise.race([client.waitForJob(id, { pollMs: 20 }), ended]);
}

test('it does jobs, tells operators how it is, and gives its job back when it is stopped', async () => {
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const speech = loadAddon().decode(clip).samples;
  const { url } = await client.createUploadLinks(['short.flac', 'long.wav', 'voice.wav']);
  assert.ok(url[0] && url[1] && url[2]);
  await client.upload(url[0], clip);
  await client.upload(url[1], longMonoWav(speech, 16_000, 64 << 20));
  const sample = longMonoWav(speech, 16_000, 1 << 20);
  await client.upload(url[2], sample);
  const waiting = await client.createJob({ key: 'short.flac' });
  assert.equal((await client.getJob(waiting.id)).state, 'queued');

  const worker = start(
    'work',
    envOf('worker', { VERAVOX_ADMIN_ADDRESS: '127.0.0.1:0', VERAVOX_LOG_FORMAT: 'json' }),
  );
  await worker.printed(/^veravox works on up to 1 jobs at once\.$/m);
  const done = await jobDoneBy(worker, waiting.id);
  assert.equal(done.state, 'succeeded', JSON.stringify(done.error));
  // Two processes, one trace.
  const made = await collector.named('POST /v1/jobs');
  const jobsOf = () =>
    collector.spans.filter(({ name, traceId }) => name === 'job' && traceId === made.traceId);
  await eventually(() => jobsOf().length > 0, 'the span of the job arrives');
  const [job = assert.fail(), ...others] = jobsOf();
  assert.deepEqual([job.parentId, others], [made.spanId, []]);
  assert.deepEqual(
    [made, job].map(({ resource }) => resource['process.pid']),
    [running[1]?.child.pid, worker.child.pid],
  );
  assert.deepEqual(
    collector.partsOf(job).map(({ name }) => name),
    ['open', 'analyse'],
  );
  const enrolment = await client.createJob({ key: 'voice.wav' }, { task: 'enroll' });
  const enrolled = await jobDoneBy(worker, enrolment.id);
  assert.equal(enrolled.state, 'succeeded', JSON.stringify(enrolled.error));
  const { processing_time: _, deepfake_flagged, ...voiceprint } = enrollmentOf(enrolled) ?? assert.fail();
  // The model of the tests gives 0.5, but for rounding: the highest of its windows counts.
  assert.ok(Math.abs((deepfake_flagged ?? 0) - 0.5) < 1e-5, String(deepfake_flagged));
  const { processing_time: __, ...direct } = await client.enroll(sample);
  assert.deepEqual(voiceprint, direct);
  const [, adminPort] = await worker.printed(/"adminPort":(\d+)/);
  const ready = await request(Number(adminPort), '/readyz');
  assert.deepEqual([ready.status, ready.json.database], [200, 'up']);
  await eventually(
    async () =>
      /^veravox_job_turns_total\{outcome="succeeded"\} 2$/m.test(
        (await request(Number(adminPort), '/metrics')).text,
      ),
    'both jobs are counted',
  );
  assert.equal((await request(Number(adminPort), '/v1/jobs')).status, 404);

  const { id } = await client.createJob({ key: 'long.wav' });
  await eventually(async () => (await client.getJob(id)).audio_analysed > 0, 'a step is saved');
  worker.child.kill('SIGTERM');
  const { status } = await worker.finished;
  assert.equal(status, 0);
  const given = await client.getJob(id);
  assert.deepEqual([given.state, given.attempts], ['queued', 0]);
  assert.ok(given.audio_analysed > 0, 'what was saved is kept');

  const next = start('work', envOf('worker'));
  const ended = await jobDoneBy(next, id);
  assert.equal(ended.state, 'succeeded', JSON.stringify(ended.error));
  assert.equal(ended.attempts, 1);
  next.child.kill('SIGTERM');
  assert.equal((await next.finished).status, 0);
});

test('it says what it lacks', async () => {
  for (const [missing, message] of [
    [{ VERAVOX_DATABASE_URL: '' }, /set VERAVOX_DATABASE_URL/],
    [{ VERAVOX_STORAGE_BUCKET: '', VERAVOX_STORAGE_ENDPOINT: '' }, /set VERAVOX_STORAGE_BUCKET/],
    [{ VERAVOX_JOB_WORKERS: '0' }, /VERAVOX_JOB_WORKERS is 0/],
  ] as const) {
    const { status, stderr } = await runCli(['work'], envOf('nobody', missing));
    assert.equal(status, 1);
    assert.match(stderr, message);
  }
});
