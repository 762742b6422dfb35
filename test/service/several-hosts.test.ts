// SPDX-License-Identifier: Apache-2.0
//
// Two servers and two workers with addresses and data folders of their own, on one PostgreSQL database and one bucket with a
// public name that none of them can reach: that of a proxy with TLS.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import { Cli, runCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { writeTinyModels } from '../support/tiny-models.js';

const PUBLIC_HOST = 'files.example';
const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

interface Host {
  readonly origin: string;
  readonly client: VeravoxClient;
}

let folder: string;
let postgres: PostgresServer;
let common: Record<string, string>;
let bucket: Record<string, string>;
let endpoint: string;
let apiKey = '';
let hosts: readonly [Host, Host];
const running: Cli[] = [];

const dataDirOf = (host: string): string => path.join(folder, host);
const envOf = (host: string, more = {}): Record<string, string> => ({
  ...common,
  ...bucket,
  VERAVOX_DATA_DIR: dataDirOf(host),
  ...more,
});

function start(command: string, settings: Record<string, string>): Cli {
  const cli = new Cli([command], settings);
  running.push(cli);
  return cli;
}

const isReady = /is ready on (http:\S+)\n/;

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-several-'));
  postgres = await startPostgres();
  common = {
    PORT: '0',
    VERAVOX_MODELS_DIR: writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even'),
    VERAVOX_ANALYSE_UPLOADS: 'off',
  };
  // A server's data folder is the bucket.
  const storage = start('serve', { ...common, HOST: '127.0.0.9', VERAVOX_DATA_DIR: dataDirOf('storage') });
  [, endpoint = ''] = await storage.printed(isReady);
  const secrets = loadStorageSecrets(dataDirOf('storage'));
  bucket = {
    VERAVOX_DATABASE_URL: await postgres.createDatabase(),
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: endpoint,
    VERAVOX_STORAGE_PUBLIC_URL: `https://${PUBLIC_HOST}`,
    AWS_ACCESS_KEY_ID: secrets.accessKeyId,
    AWS_SECRET_ACCESS_KEY: secrets.secretAccessKey,
  };
  const origins: string[] = [];
  for (const address of ['127.0.0.2', '127.0.0.3']) {
    const server = start('serve', envOf(address, { HOST: address, VERAVOX_JOB_WORKERS: '0' }));
    origins.push((await server.printed(isReady))[1] ?? '');
  }
  for (const worker of ['worker-1', 'worker-2']) {
    await start('work', envOf(worker)).printed(/veravox works on up to 1 jobs/);
  }
  apiKey = (await runCli(['keys', 'create'], envOf('127.0.0.2'))).stdout.trim();
  const [first, second] = origins.map((origin) => ({
    origin,
    client: new VeravoxClient({ baseUrl: origin, apiKey }),
  }));
  assert.ok(first && second);
  hosts = [first, second];
});

after(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ finished }) => finished));
  await postgres.remove();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** As the proxy forwards it. */
async function throughProxy(method: string, link: string, body?: Uint8Array): Promise<number> {
  const { pathname, search, hostname } = new URL(link);
  assert.equal(hostname, PUBLIC_HOST);
  const request = http.request(`${endpoint}${pathname}${search}`, { method, headers: { host: PUBLIC_HOST } });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

async function upload({ client }: Host, key: string): Promise<void> {
  const [link] = (await client.createUploadLinks([key])).url;
  assert.equal(await throughProxy('PUT', link?.value ?? '', clip), 200);
}

const keysOn = async ({ client }: Host): Promise<string[]> =>
  (await client.getDownloadLinks('')).url.map(({ key }) => key);

const linkOn = async ({ client }: Host, key: string): Promise<string> =>
  (await client.getDownloadLinks(key)).url[0]?.value ?? assert.fail(`no link to ${key}`);

test('what is sent through one host is listed, fetched, analysed and deleted alike on each', async () => {
  const [a, b] = hosts;
  await upload(a, 'of-a.flac');
  await upload(b, 'of-b.flac');
  for (const host of hosts) {
    assert.deepEqual(await keysOn(host), ['analysis/of-a.flac', 'analysis/of-b.flac']);
    for (const key of ['of-a.flac', 'of-b.flac']) {
      assert.equal(await throughProxy('GET', await linkOn(host, key)), 200);
    }
  }
  const jobs = await Promise.all(
    hosts.flatMap(({ client }) =>
      ['of-a.flac', 'of-b.flac'].map(async (key) => {
        const { id } = await client.createJob({ key });
        return client.waitForJob(id, { pollMs: 20 });
      }),
    ),
  );
  for (const { state, error } of jobs) assert.equal(state, 'succeeded', JSON.stringify(error));
  await b.client.deleteFiles(['of-a.flac']);
  assert.deepEqual(await keysOn(a), ['analysis/of-b.flac']);
});

test('a link of the storage is read from it, although its public name cannot be reached', async () => {
  const [a, b] = hosts;
  await upload(a, 'linked.flac');
  const link = await linkOn(a, 'linked.flac');
  const answer = await b.client.predict({ presignedUrl: link });
  assert.ok(answer.global);
  const { id } = await b.client.createJob({ presignedUrl: link });
  assert.equal((await b.client.waitForJob(id, { pollMs: 20 })).state, 'succeeded');
  // Another object under the same signature is not a link of ours; only the storage could tell.
  await assert.rejects(b.client.predict({ presignedUrl: link.replace('linked', 'other') }), { status: 503 });
});

test('a ticket of one host opens a stream on the other', async () => {
  const [a, b] = hosts;
  const headers = { 'x-api-key': apiKey };
  const response = await fetch(`${a.origin}/v1/stream/tickets`, { method: 'POST', headers });
  const { ticket } = (await response.json()) as { ticket: string };
  const upgrade = http.request(`${b.origin}/v1/stream?encoding=pcm16&sample_rate=16000`, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': `veravox.v1, veravox.ticket.${ticket}`,
    },
  });
  upgrade.end();
  const [answer, socket] = await Promise.race([
    once(upgrade, 'upgrade'),
    once(upgrade, 'response').then(([refused]) => [refused, undefined]),
  ]);
  assert.equal(answer.statusCode, 101);
  socket.destroy();
});

test('hosts with the database need no secrets in their data folders', () => {
  for (const host of ['127.0.0.2', '127.0.0.3', 'worker-1', 'worker-2']) {
    assert.ok(!fs.existsSync(path.join(dataDirOf(host), 'storage.json')), host);
  }
});

test('a start with another secret than the other hosts have is refused, and says what to do', async () => {
  const other = 'another-secret-of-more-than-32-characters';
  const file = path.join(folder, 'secret');
  fs.writeFileSync(file, `${other}\n`);
  for (const [processes, hasDatabase, said] of [
    ['2', true, /VERAVOX_STORAGE_SECRET is another one than that of the other hosts/],
    // The note in the bucket tells them apart.
    ['0', false, /Hosts with another secret store files in this bucket/],
  ] as const) {
    const settings = envOf(`refused-${processes}`, {
      VERAVOX_STORAGE_SECRET_FILE: file,
      VERAVOX_PROCESSES: processes,
      ...(!hasDatabase && { VERAVOX_DATABASE_URL: '' }),
    });
    const server = start('serve', settings);
    const started = server.printed(isReady).then(() => assert.fail('It started.'));
    const { status, stderr, stdout } = await Promise.race([server.finished, started]);
    assert.equal(status, 1, stdout + stderr);
    assert.match(stderr, said);
    assert.ok(!(stdout + stderr).includes(other));
  }
});

test('a server whose bucket is missing starts, is not ready, says why, and logs lines only', async () => {
  const settings = envOf('missing', {
    VERAVOX_STORAGE_BUCKET: 'nowhere',
    VERAVOX_DATABASE_URL: '',
    VERAVOX_LOG_FORMAT: 'json',
    VERAVOX_STORAGE_PUBLIC_URL: '',
    // Like a package that warns while the server runs.
    NODE_OPTIONS: "--import=data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('later'))",
  });
  const server = start('serve', settings);
  const [, origin] = await server.printed(/veravox is running on (http:\S+), but not ready: see the log\n/);
  const answer = await fetch(`${origin}/readyz`);
  assert.deepEqual([answer.status, await answer.json()], [503, { ready: false, state: 'storage_unusable' }]);
  const lines = server.stdout.split('\n').filter((line) => line.startsWith('{'));
  const told = lines.map((line) => JSON.parse(line)).find(({ bucket: name }) => name === 'nowhere');
  assert.deepEqual([told?.level, told?.state], ['error', 'missing']);
  server.child.kill('SIGUSR2');
  await eventually(() => /later/.test(server.stdout + server.stderr), 'it warns');
  server.child.kill('SIGTERM');
  await eventually(() => server.child.exitCode !== null, 'it stops');
  assert.equal(server.stderr, '');
});
