// SPDX-License-Identifier: Apache-2.0
//
// Requests to a client's callback_url, and hosts that the server refuses to call. Signatures are checked by Python and
// openssl.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { AllowedHost } from '../../src/base/config/allowed-host.js';
import { parseAllowedHost } from '../../src/base/config/allowed-host.js';
import { loadConfig } from '../../src/base/config/load-config.js';
import type { Config } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { MAX_PER_DESTINATION } from '../../src/jobs/webhooks/destinations.js';
import { recordingEnd } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { startFakeStorage, startTrap } from '../support/fake-storage.js';
import { type JobServer, startJobServer } from '../support/job-server.js';

interface Received {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (response: http.ServerResponse, received: Received) => void;

const accept: Answer = (response) => response.writeHead(204).end();
const FILE = Buffer.from('any bytes');

/** A client's server, which keeps the requests it gets. */
async function startReceiver(t: TestContext, answer: Answer = accept) {
  const received: Received[] = [];
  const server = await startFakeStorage(t, (request, response) => {
    void text(request).then((body) => {
      const one = { headers: request.headers, body };
      received.push(one);
      answer(response, one);
    });
  });
  return { ...server, received, url: `http://hooks.example.com:${server.port}/end?for=me` };
}

const allowed = (...entries: string[]): AllowedHost[] =>
  entries.map((entry) => parseAllowedHost(entry) ?? assert.fail(entry));

/** A server that resolves all names to this machine, as if to public addresses. */
async function start(
  t: TestContext,
  ports: readonly number[],
  overrides: Partial<Config> = {},
  isPublicAddress: (address: string) => boolean = () => true,
): Promise<{ server: JobServer; secret: string }> {
  const server = await startJobServer(
    t,
    { webhookHosts: allowed(...ports.map((port) => `http://hooks.example.com:${port}`)), ...overrides },
    {
      fetchSurroundings: {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
        isPublicAddress,
      },
    },
  );
  const { text: secret } = await server.jobParts.jobs.webhookSecrets.create('one', 60_000);
  await server.store('a', FILE);
  return { server, secret };
}

async function created(server: JobServer, callback_url: string, more: object = {}): Promise<string> {
  const { status, json, headers } = await server.call('POST', '/v1/jobs', {
    key: 'a',
    callback_url,
    ...more,
  });
  assert.equal(status, 202, JSON.stringify(json));
  return String(headers.location);
}

/** The webhook of a job, when it has reached that state. */
async function webhookOf(server: JobServer, job: string, state: string) {
  let webhook: {
    id: string;
    state: string;
    next_attempt_at: string | null;
    attempts: Record<string, unknown>[];
  };
  await eventually(async () => {
    webhook = (await server.call('GET', job)).json.webhook;
    return webhook?.state === state;
  }, `its webhook is ${state}`);
  // biome-ignore lint/style/noNonNullAssertion: eventually has set it
  return webhook!;
}

const attempted = (server: JobServer, job: string, times: number): Promise<void> =>
  eventually(
    async () => (await server.call('GET', job)).json.webhook?.attempts.length === times,
    `${times} attempts have ended`,
  );

/** The same webhook without waiting for its pause. */
async function hasten(server: JobServer): Promise<void> {
  await server.database.transaction(async (transaction) => {
    await transaction.execute("UPDATE webhook_deliveries SET due_at_ms = 0 WHERE state = 'waiting'");
    await transaction.announce('webhooks');
  });
}

function opensslSignature(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64').toString('hex');
  const input = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'];
  return `v1,${execFileSync('openssl', args, { input }).toString('base64')}`;
}

test('a callback_url to another host, or without a secret, makes no job', async (t) => {
  const trap = await startTrap(t);
  const { server } = await start(t, [trap.port]);
  for (const [url, key] of [
    ['https://elsewhere.example.com/', 'WEBHOOK_HOST_REFUSED'],
    [`http://hooks.example.com:${trap.port + 1}/`, 'WEBHOOK_HOST_REFUSED'],
    [`https://hooks.example.com:${trap.port}/`, 'WEBHOOK_HOST_REFUSED'],
    [`http://127.0.0.1:${trap.port}/`, 'WEBHOOK_HOST_REFUSED'],
    // The own storage is a place for files only.
    [`${server.storagePrefixes[0]}x`, 'WEBHOOK_HOST_REFUSED'],
    [`http://user:password@hooks.example.com:${trap.port}/`, 'FIELD_INVALID'],
    ['not a link', 'FIELD_INVALID'],
    ['', 'FIELD_INVALID'],
    [`http://hooks.example.com:${trap.port}/${'x'.repeat(2048)}`, 'FIELD_INVALID'],
  ]) {
    const answer = await server.call('POST', '/v1/jobs', { key: 'a', callback_url: url });
    assert.deepEqual([answer.status, answer.headers['x-error-key']], [400, key], url);
    assert.match(answer.json.message, /callback_url/);
  }
  for (const secret of await server.jobParts.jobs.webhookSecrets.list()) {
    await server.jobParts.jobs.webhookSecrets.remove(secret.id);
  }
  const url = `http://hooks.example.com:${trap.port}/`;
  const answer = await server.call('POST', '/v1/jobs', { key: 'a', callback_url: url });
  assert.deepEqual([answer.status, answer.headers['x-error-key']], [400, 'WEBHOOK_SECRET_MISSING']);
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json.jobs, []);
  assert.equal(await trap.connections(), 0);
});

test('an allowed name that leads to a private address gets nothing, at each attempt', async (t) => {
  const trap = await startTrap(t);
  const judged: string[] = [];
  // Public while the job is made.
  const { server } = await start(t, [trap.port], {}, (address) => judged.push(address) === 1);
  const job = await created(server, `http://hooks.example.com:${trap.port}/`);
  await attempted(server, job, 1);
  const [first] = (await server.call('GET', job)).json.webhook.attempts;
  assert.deepEqual(
    [first.status, first.problem],
    [null, 'the host has an address that is neither public nor allowed'],
  );
  await hasten(server);
  await eventually(() => judged.length === 3, 'it is judged again');
  assert.equal(await trap.connections(), 0);
});

test('the end of a job arrives once, signed, and its log says so', async (t) => {
  const receiver = await startReceiver(t);
  const { server, secret } = await start(t, [receiver.port]);
  const job = await created(server, receiver.url);
  const webhook = await webhookOf(server, job, 'delivered');
  assert.equal(receiver.received.length, 1);
  const [received = assert.fail()] = receiver.received;
  const { headers, body } = received;
  assert.deepEqual(
    [receiver.requests[0]?.method, receiver.requests[0]?.url, headers['content-type'], headers['user-agent']],
    ['POST', '/end?for=me', 'application/json', 'veravox'],
  );
  assert.equal(headers['webhook-id'], webhook.id);
  assert.ok(Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 60);
  assert.equal(headers['webhook-signature'], opensslSignature(secret, received));
  const { webhook: log, ...ending } = (await server.call('GET', job)).json;
  assert.deepEqual(JSON.parse(body), {
    type: 'job.succeeded',
    timestamp: ending.finished_at,
    data: { ...ending, result_omitted: false },
  });
  assert.deepEqual([log.attempts.length, log.attempts[0].status, log.next_attempt_at], [1, 204, null]);
  assert.equal(await server.metric('veravox_webhook_attempts_total{outcome="delivered"}'), 1);
  assert.equal(await server.metric('veravox_webhooks_waiting'), 0);
});

test('failed and cancelled jobs are told, too; a job without callback_url is not', async (t) => {
  const receiver = await startReceiver(t);
  const { server } = await start(t, [receiver.port], { maxJobBytes: 1024 });
  await server.store('large', Buffer.alloc(2000));
  await created(server, receiver.url, { key: 'large' });
  await eventually(() => receiver.received.length === 1, 'the failure arrives');
  const failed = JSON.parse(receiver.received[0]?.body ?? '');
  assert.deepEqual([failed.type, failed.data.error.key], ['job.failed', 'FILE_TOO_LARGE']);
  const silent = await server.call('POST', '/v1/jobs', { key: 'a' });
  await eventually(
    async () => (await server.call('GET', String(silent.headers.location))).json.state === 'succeeded',
    'it ends',
  );
  assert.equal((await server.call('GET', String(silent.headers.location))).json.webhook, null);
  assert.equal(receiver.received.length, 1);
});

test('a refusal is followed by another attempt with the same id and body; 410 and redirects are not followed', async (t) => {
  const trap = await startTrap(t);
  const statuses = [500, 302, 410];
  const receiver = await startReceiver(t, (response) => {
    const location = { location: `http://127.0.0.1:${trap.port}/` };
    response.writeHead(statuses.shift() ?? 204, location).end();
  });
  const { server } = await start(t, [receiver.port, trap.port]);
  const job = await created(server, receiver.url);
  for (const count of [1, 2]) {
    await attempted(server, job, count);
    await hasten(server);
  }
  const webhook = await webhookOf(server, job, 'failed');
  assert.deepEqual(
    webhook.attempts.map(({ problem }) => problem),
    ['status 500', 'status 302: redirects are not followed', 'status 410'],
  );
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  assert.deepEqual(
    new Set(receiver.received.map(({ headers }) => headers['webhook-id'])),
    new Set([webhook.id]),
  );
  assert.equal(await trap.connections(), 0);
  // Until the operator sends it again.
  await server.jobParts.jobs.deliveries.replay(webhook.id);
  await webhookOf(server, job, 'delivered');
  assert.equal(receiver.received.length, 4);
});

test('an answer that never ends, or never comes, holds nothing up', async (t) => {
  const endless = await startReceiver(t, (response) => {
    response.writeHead(200);
    const write = (): void => void (response.destroyed || response.write('x'.repeat(65_536), write));
    write();
  });
  const mute = await startReceiver(t, () => {});
  const { server } = await start(t, [endless.port, mute.port], { webhookTimeoutMs: 500 });
  const toEndless = await created(server, endless.url);
  const toMute = await created(server, mute.url);
  // Before its repetition.
  await attempted(server, toMute, 1);
  await webhookOf(server, toEndless, 'delivered');
  const [attempt] = (await server.call('GET', toMute)).json.webhook.attempts;
  assert.deepEqual([attempt.status, attempt.problem], [null, 'no answer in time']);
});

test('a slow destination has a few requests at once, and others do not wait for it', async (t) => {
  const held: http.ServerResponse[] = [];
  const slow = await startReceiver(t, (response) => void held.push(response));
  const quick = await startReceiver(t);
  const { server } = await start(t, [slow.port, quick.port]);
  const slowJobs: string[] = [];
  for (let i = 0; i < MAX_PER_DESTINATION + 3; i++) slowJobs.push(await created(server, slow.url));
  await eventually(() => held.length === MAX_PER_DESTINATION, 'as many as may be');
  await webhookOf(server, await created(server, quick.url), 'delivered');
  assert.equal(held.length, MAX_PER_DESTINATION);
  const release = setInterval(() => {
    for (const response of held.splice(0)) response.writeHead(204).end();
  }, 10);
  t.after(() => clearInterval(release));
  for (const job of slowJobs) {
    assert.equal((await webhookOf(server, job, 'delivered')).attempts.length, 1);
  }
});

test('a result too large for a webhook is left out, and the job has it', async (t) => {
  const receiver = await startReceiver(t);
  const { server } = await start(t, [receiver.port]);
  server.analyser.recordingSteps = async function* ({ model }) {
    const windows = Array.from({ length: 2000 }, (_, i) => ({
      startS: 5 * i,
      endS: 5 * i + 5,
      scores: [0.5],
    }));
    yield { ...recordingEnd(model), windows };
  };
  const job = await created(server, receiver.url);
  await webhookOf(server, job, 'delivered');
  const { data } = JSON.parse(receiver.received[0]?.body ?? '');
  assert.deepEqual([data.result, data.result_omitted, data.state], [null, true, 'succeeded']);
  assert.equal((await server.call('GET', job)).json.result.segments.length, 2000);
  // It is not even read: parsing megabytes at each attempt would hold up everybody else.
  await server.database.execute('UPDATE jobs SET result = $1', ['{'.repeat(200_000)]);
  assert.ok(await server.jobParts.jobs.deliveries.replay(job.slice('/v1/jobs/'.length)));
  await eventually(() => receiver.received.length === 2, 'it is sent again');
  assert.equal(receiver.received[1]?.body, receiver.received[0]?.body);
});

test('a server that stops in the middle of a request leaves the webhook to the next', async (t) => {
  const held: http.ServerResponse[] = [];
  const receiver = await startReceiver(t, (response) => void held.push(response));
  const { server } = await start(t, [receiver.port]);
  const job = await created(server, receiver.url);
  await eventually(() => held.length === 1, 'it is sent');
  await server.server.stop();
  const delivery = await server.jobParts.jobs.deliveries.ofJob(job.slice('/v1/jobs/'.length));
  assert.deepEqual([delivery?.state, delivery?.allAttempts], ['waiting', 0]);
  assert.equal(
    (await server.jobParts.deliveryWorkTable.take())?.delivery.id,
    receiver.received[0]?.headers['webhook-id'],
  );
});

/** The program of the documentation. */
async function startPython(t: TestContext, secrets: string): Promise<{ port: number; output: () => string }> {
  const page = fs.readFileSync(path.join(packageDir, 'docs/webhooks.md'), 'utf8');
  const [, program = assert.fail('no program')] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
  const env = { ...process.env, PORT: '0', WEBHOOK_SECRETS: secrets };
  const receiver = spawn('python3', ['-uc', program], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(async () => {
    receiver.kill('SIGKILL');
    await once(receiver, 'close');
  });
  let output = '';
  receiver.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(() => /^listening on \d+$/m.test(output), 'it listens');
  return { port: Number(/\d+/.exec(output)?.[0]), output: () => output };
}

test('the receiver of the documentation takes what is signed with an old or a new secret, and nothing else', async (t) => {
  const known = `whsec_${randomBytes(32).toString('base64')}`;
  const python = await startPython(t, known);
  const stranger = await startPython(t, `whsec_${randomBytes(32).toString('base64')}`);
  const { server } = await start(t, [python.port, stranger.port]);
  // The server also signs with the secret of `start`.
  await server.database.execute(
    "INSERT INTO webhook_secrets (id, account, secret, created_at_ms) VALUES ('whs_known', 'one', $1, 0)",
    [known],
  );
  const job = await created(server, `http://hooks.example.com:${python.port}/`);
  const { id } = await webhookOf(server, job, 'delivered');
  assert.ok(
    python.output().includes(`${id} job.succeeded ${job.slice('/v1/jobs/'.length)}\n`),
    python.output(),
  );
  const refused = await created(server, `http://hooks.example.com:${stranger.port}/`);
  await attempted(server, refused, 1);
  assert.equal((await server.call('GET', refused)).json.webhook.attempts[0].status, 401);
});

test('the example of the documentation for one machine works as printed', async (t) => {
  const page = fs.readFileSync(path.join(packageDir, 'docs/webhooks.md'), 'utf8');
  const [, setting = ''] = /^export VERAVOX_WEBHOOK_PRIVATE_HOSTS=(127\S+)$/m.exec(page) ?? [];
  const [, link = ''] = /"callback_url": "(http:\/\/127[^"]+)"/.exec(page) ?? [];
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const python = await startPython(t, secret);
  // The port in the page may be in use.
  const here = (text: string): string => text.replace(':9000', `:${python.port}`);
  const { webhookPrivateHosts } = loadConfig({ VERAVOX_WEBHOOK_PRIVATE_HOSTS: here(setting) });
  const server = await startJobServer(t, { webhookPrivateHosts });
  await server.database.execute(
    "INSERT INTO webhook_secrets (id, account, secret, created_at_ms) VALUES ('whs_known', 'one', $1, 0)",
    [secret],
  );
  await server.store('a', FILE);
  const { id } = await webhookOf(server, await created(server, here(link)), 'delivered');
  assert.ok(python.output().includes(`${id} job.succeeded`), python.output());
});
