// SPDX-License-Identifier: Apache-2.0
//
// Several processes on one port: one that dies costs only its own requests and is replaced, and an input that kills
// twice is refused. In order: the tests share a server, since starting one takes seconds.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { AdminClient } from '../../client/src/index.js';
import { listen } from '../../src/api/http/listener.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { NewKey } from '../../src/state/keys/api-key.js';
import { Cli, runCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { uploadLink } from '../support/file-links.js';
import { FORM_TYPE, formBody } from '../support/form-body.js';
import { type Answer, postForm, RawClient, request } from '../support/http-client.js';
import { createKey } from '../support/stored-keys.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { monoWav, repeated } from '../support/wav.js';

const processes = 2;
const RATE = 9;
const CONCURRENCY = 3;
const killDecoder = path.join(packageDir, 'test/support/kill-decoder.py');

let folder: string;
let dataDir: string;
let modelsDir: string;
let cli: Cli;
let port: number;
let key: string;
let adminKey: string;
let rateKey: string;
let concurrencyKey: string;
let speech: Uint8Array;
/** Long enough that a decoder can be caught at work on it. */
let longSpeech: Uint8Array;

const predict = (file: Uint8Array): Promise<Answer> =>
  postForm(port, '/v1/predict', formBody([{ name: 'file', filename: 'a', content: file }]), {
    headers: { 'x-api-key': key },
  });

async function metric(name: string): Promise<number> {
  const { text } = await request(port, '/metrics');
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

/** The serving processes, found as the supervisor's children. */
function servingProcesses(): number[] {
  const supervisor = cli.child.pid as number;
  return fs
    .readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number);
}

/** Needs a separate connection for each process: the system assigns them. */
async function everyProcessAnswers(): Promise<boolean> {
  try {
    const answers = await Promise.all(Array.from({ length: 8 }, () => request(port, '/readyz')));
    return answers.every(({ status }) => status === 200) && servingProcesses().length === processes;
  } catch {
    return false;
  }
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-supervised-'));
  dataDir = path.join(folder, 'data');
  modelsDir = writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even');
  speech = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const { samples, sampleRateHz } = loadAddon().decode(speech);
  longSpeech = monoWav(repeated(samples, sampleRateHz * 160), sampleRateHz);
  const create = async (wanted: NewKey): Promise<string> => (await createKey(dataDir, wanted)).text;
  key = await create({ name: 'any', scopes: ['predict', 'voiceid', 'file'] });
  adminKey = await create({ name: 'operator', scopes: ['admin'] });
  const rate = { requests: RATE, windowS: 3600 };
  rateKey = await create({ name: 'rate', scopes: ['file'], rate });
  concurrencyKey = await create({ name: 'concurrency', scopes: ['predict'], concurrency: CONCURRENCY });
  cli = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: String(processes),
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: modelsDir,
  });
  const [, started = ''] = await cli.printed(/^veravox is ready on http:\/\/127\.0\.0\.1:(\d+)$/m);
  port = Number(started);
});

after(() => {
  cli.child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
});

test('each place is filled by a process, and all of them serve', async () => {
  assert.equal(servingProcesses().length, processes);
  assert.equal((await predict(speech)).json.global.score.toFixed(3), '0.500');
});

test('metrics are those of all processes together', async () => {
  // A route has series from its first request on.
  await request(port, '/livez');
  const before = await metric('veravox_http_requests_total{route="/livez",status="200"}');
  for (let i = 0; i < 10; i++) await request(port, '/livez');
  assert.equal(await metric('veravox_http_requests_total{route="/livez",status="200"}'), before + 10);
  assert.equal(await metric('veravox_ready'), 1);
  const windowsBefore = await metric('veravox_device_batch_inputs_sum{device="cpu"}');
  assert.equal((await predict(speech)).status, 200);
  assert.ok((await metric('veravox_device_batch_inputs_sum{device="cpu"}')) > windowsBefore);
  assert.equal(await metric('veravox_device_up{device="cpu"}'), 1);
});

test('so is the history', async () => {
  const admin = new AdminClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: adminKey });
  const probesIn = async () => {
    const { history } = await admin.getHealth();
    const { ok = [] } = history.requests.operation ?? {};
    return { probes: ok.reduce((sum, count) => sum + count, 0), processes: history.processes };
  };
  const { probes: before } = await probesIn();
  for (let i = 0; i < 10; i++) await request(port, '/livez');
  await eventually(async () => {
    const { probes, processes: added } = await probesIn();
    return added === processes && probes >= before + 10;
  }, 'both processes tell what they counted');
});

test('the rate of a key holds over all processes', async () => {
  const ask = () =>
    request(port, '/v1/file?key_prefix=a&entity=analysis', { headers: { 'x-api-key': rateKey } });
  const answers = await Promise.all(Array.from({ length: 3 * RATE }, ask));
  assert.equal(answers.filter(({ status }) => status === 200).length, RATE);
  assert.equal(answers.filter(({ status }) => status === 429).length, 2 * RATE);
});

test('the concurrency of a key holds over all processes', async () => {
  const body = formBody([{ name: 'file', filename: 'a', content: speech }]);
  const head =
    `POST /v1/predict HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${concurrencyKey}\r\n` +
    `content-type: ${FORM_TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`;
  // Requests whose body is still to come: one after another is known everywhere, or refused.
  const held: RawClient[] = [];
  const refused: RawClient[] = [];
  for (let i = 0; i < 4 * CONCURRENCY; i++) {
    const inFlight = await metric('veravox_requests_in_flight');
    const client = await RawClient.connect(port);
    await client.write(head);
    await eventually(
      async () => client.received !== '' || (await metric('veravox_requests_in_flight')) === inFlight + 1,
      'the request is admitted or refused',
    );
    (client.received === '' ? held : refused).push(client);
  }
  assert.equal(held.length, CONCURRENCY);
  for (const client of refused) assert.match(client.received, /^HTTP\/1\.1 429 /);
  for (const client of held) {
    await client.write(body);
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
  }
  for (const client of [...held, ...refused]) client.socket.destroy();
});

test('a port that another program has is an error that names it', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port: takenPort } = taken.address() as net.AddressInfo;
  const env = {
    PORT: String(takenPort),
    VERAVOX_PROCESSES: '1',
    VERAVOX_DATA_DIR: path.join(folder, 'other'),
  };
  const { status, stderr } = await runCli(['serve'], { ...env, VERAVOX_MODELS_DIR: modelsDir });
  taken.close();
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`port ${takenPort}: another program listens there`));
});

test('so is an admin address that another server shares among its processes', async (t) => {
  const open = (at: number) => listen({ host: '127.0.0.1', port: at, isShared: true, handle: () => {} });
  // A port that the system picks is not shared.
  const picked = await open(0);
  picked.close();
  const other = await open(picked.port);
  t.after(() => other.close());
  const second = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: '1',
    VERAVOX_ADMIN_ADDRESS: `127.0.0.1:${other.port}`,
    VERAVOX_DATA_DIR: path.join(folder, 'second'),
    VERAVOX_MODELS_DIR: modelsDir,
  });
  t.after(() => second.child.kill('SIGKILL'));
  await assert.rejects(
    second.printed(/is ready on/),
    new RegExp(`port ${other.port}: another program listens there`),
  );
});

test('a process that cannot start ends the supervisor with its message', async () => {
  const damaged = fs.mkdtempSync(path.join(folder, 'damaged-'));
  fs.writeFileSync(path.join(damaged, 'manifest.json'), '{');
  const env = { PORT: '0', VERAVOX_PROCESSES: '2', VERAVOX_DATA_DIR: path.join(folder, 'third') };
  const { status, stderr } = await runCli(['serve'], { ...env, VERAVOX_MODELS_DIR: damaged });
  assert.equal(status, 1);
  assert.match(stderr, /manifest\.json/);
});

test('a stop during the start ends those that serve already in order', async (t) => {
  const starting = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: '3',
    VERAVOX_DATA_DIR: path.join(folder, 'fourth'),
    VERAVOX_MODELS_DIR: modelsDir,
  });
  t.after(() => starting.child.kill('SIGKILL'));
  await starting.printed(/"msg":"listening"/);
  starting.child.kill('SIGTERM');
  const { status, stdout } = await starting.finished;
  assert.equal(status, 0, stdout);
  const count = (message: string): number => stdout.split(`"msg":"${message}"`).length - 1;
  assert.equal(count('stopped'), count('listening'));
  assert.ok(count('listening') < 3);
});

test('the models of one process after the other are loaded anew', async () => {
  writeTinyModels(modelsDir, 'high');
  cli.child.kill('SIGHUP');
  await eventually(
    async () => (await metric('veravox_reload_total{result="loaded"}')) === processes,
    'both have loaded their models',
  );
  for (let i = 0; i < 6; i++) assert.ok((await predict(speech)).json.global.score > 0.7);
});

test('signals during a reload renew secrets at once, and cause one more reload', async () => {
  const count = (text: string): number => cli.stdout.split(text).length - 1;
  const reloadsBefore = count('"msg":"models reloaded"');
  const reloads = (): number => count('"msg":"models reloaded"') - reloadsBefore;
  const secrets = path.join(dataDir, 'storage.json');
  const valid = fs.readFileSync(secrets);
  fs.writeFileSync(secrets, '{');
  const signals = 5;
  for (let sent = 1; sent <= signals; sent++) {
    cli.child.kill('SIGHUP');
    await eventually(
      () => count('storage.json was not reloaded') === sent * processes,
      'both processes have tried to renew their secrets',
    );
  }
  fs.writeFileSync(secrets, valid);
  assert.ok(reloads() < (signals - 1) * processes);
  await eventually(
    async () => reloads() >= 2 * processes && (await metric('veravox_model_sets')) === 1,
    'all reloads are over',
  );
  assert.ok(reloads() < signals * processes);
});

test('a process that is killed leaves none of its uploads, and the others theirs', async () => {
  const incoming = path.join(dataDir, 'objects/incoming');
  const uploads: RawClient[] = [];
  for (let i = 1; i <= 8; i++) {
    const { host, pathname, search } = new URL(await uploadLink({ port }, `${i}`, { apiKey: key }));
    const client = await RawClient.connect(port);
    await client.write(`PUT ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 9\r\n\r\nhalf`);
    await eventually(() => fs.readdirSync(incoming).length === i, 'the upload has begun');
    uploads.push(client);
  }
  const [first = 0] = servingProcesses();
  process.kill(first, 'SIGKILL');
  await eventually(
    async () => !servingProcesses().includes(first) && (await everyProcessAnswers()),
    'another process serves',
  );
  const open = (): RawClient[] => uploads.filter(({ socket }) => !socket.destroyed);
  await eventually(() => fs.readdirSync(incoming).length === open().length, 'its uploads are gone');
  for (const client of open()) {
    await client.write(' more');
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
    client.socket.destroy();
  }
});

test('a process that is told to stop is replaced, and no request is lost', async () => {
  const [first = 0] = servingProcesses();
  const restarts = await metric('veravox_process_restarts_total');
  process.kill(first, 'SIGTERM');
  await eventually(
    async () => !servingProcesses().includes(first) && (await everyProcessAnswers()),
    'another process serves',
  );
  assert.equal(await metric('veravox_process_restarts_total'), restarts + 1);
});

test('an input that kills a process twice is refused from then on', async () => {
  for (let death = 1; death <= 2; death++) {
    let dead: number | undefined;
    const killing = promisify(execFile)('python3', [killDecoder, path.join(dataDir, 'crashes')]).then(
      ({ stdout }) => {
        dead = Number(stdout);
      },
    );
    // Repeats until it is caught at work.
    while (dead === undefined) {
      await Promise.race([predict(longSpeech).catch(() => undefined), killing]);
    }
    // The other process continues meanwhile.
    await eventually(
      async () => (await predict(speech).catch(() => undefined))?.status === 200,
      'other requests are answered',
    );
    await eventually(
      async () => !servingProcesses().includes(Number(dead)) && (await everyProcessAnswers()),
      'the process is replaced',
    );
  }
  for (let i = 0; i < 6; i++) {
    const refused = await predict(longSpeech);
    assert.equal(refused.status, 422);
    assert.equal(refused.json.error, 'unsupported_format');
    assert.match(refused.json.message, /^This file is refused/);
  }
  assert.equal((await predict(speech)).status, 200);
  assert.match(cli.stdout, /this input crashed a process/);
});

test('the first signal stops all processes in order', async () => {
  const serving = servingProcesses();
  cli.child.kill('SIGTERM');
  const { status } = await cli.finished;
  assert.equal(status, 0);
  for (const pid of serving) assert.throws(() => process.kill(pid, 0));
  assert.deepEqual(
    fs.readdirSync(path.join(dataDir, 'crashes')).filter((name) => name.endsWith('.notes')),
    [],
  );
});
