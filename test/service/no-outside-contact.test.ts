// SPDX-License-Identifier: Apache-2.0
//
// The program's connections and writes, as the kernel reports them through strace.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { outsideContacts, straceCommand } from '../../src/cli/privacy/system-calls.js';
import { Cli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { FORM_TYPE, fileEntry, formBody } from '../support/form-body.js';
import { request } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { monoWav } from '../support/wav.js';

const run = promisify(execFile);

/** An empty home and an empty folder for temporary files: anything in them afterwards is a fault. */
function surroundings(t: TestContext) {
  const folder = fs.realpathSync(temporaryFolder(t));
  const [home, temporary, data, working] = ['home', 'tmp', 'data', 'working'].map((name) => {
    const made = path.join(folder, name);
    fs.mkdirSync(made);
    return made;
  }) as [string, string, string, string];
  const traceFile = path.join(folder, 'trace');
  // Settings as far from the default as an operator may choose by accident.
  const vendor = { ORT_DISABLE_TELEMETRY: '0', ORT_TELEMETRY_DISABLED: '0' };
  const collector = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_TRACES_SAMPLER: 'always_on',
  };
  const env = { HOME: home, TMPDIR: temporary, VERAVOX_DATA_DIR: data, ...vendor, ...collector };
  return { folder, home, temporary, data, working, traceFile, env };
}

/** The trace, after the traced process (the parent of all others) has ended. */
async function finishedTrace(file: string, pid: number): Promise<string> {
  const end = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, 'm');
  await eventually(() => end.test(fs.readFileSync(file, 'utf8')), 'the trace is complete');
  return fs.readFileSync(file, 'utf8');
}

/** Traces a command in empty surroundings, and returns its actions other than writes to its data folder. */
async function contactsOf(
  t: TestContext,
  args: readonly string[],
  talk: (cli: Cli) => Promise<string | undefined> = async () => undefined,
) {
  const { home, temporary, data, working, traceFile, env } = surroundings(t);
  const cli = new Cli(args, { PORT: '0', ...env }, { runner: straceCommand(traceFile), cwd: working });
  t.after(() => cli.child.kill('SIGKILL'));
  const listening = await talk(cli);
  const finished = await cli.finished;
  const trace = await finishedTrace(traceFile, cli.child.pid as number);
  assert.match(trace, /libonnxruntime/, 'the trace saw the library that has the telemetry');
  // One package of OpenTelemetry comes with prom-client, and contacts nobody.
  assert.doesNotMatch(trace, /@opentelemetry\/(?!api\/)/, 'traces are loaded only if they are wanted');
  const left = [home, temporary, working].flatMap((folder) => fs.readdirSync(folder));
  assert.deepEqual(left, []);
  return {
    ...finished,
    contacts: outsideContacts(trace, { paths: [data], ...(listening && { listening }) }),
  };
}

// Checks strace rather than this project: something known about each of these calls.
for (const [what, script] of [
  ['a connection', `require('net').connect(9, '127.0.0.1').on('error', () => {})`],
  ['a look-up of a name', `require('dns').lookup('veravox.invalid', () => {})`],
  ['a look-up past the system', `require('dns').resolve('veravox.invalid', () => process.exit())`],
  [
    'a datagram',
    `const s = require('dgram').createSocket('udp4'); s.send('x', 9, '127.0.0.1', () => s.close())`,
  ],
  ['a file', `require('fs').writeFileSync('left', '')`],
  ['a folder', `require('fs').mkdirSync(process.env.HOME + '/left')`],
  [
    'a file that is removed again',
    `const f = process.env.HOME + '/left'; require('fs').closeSync(require('fs').openSync(f, 'w')); require('fs').unlinkSync(f)`,
  ],
  [
    'a file by a thread',
    `new (require('worker_threads').Worker)("require('fs').writeFileSync('left', '')", { eval: true })`,
  ],
  ['a file by another process', `require('child_process').execFileSync('touch', ['left'])`],
] as const) {
  test(`the trace shows ${what}`, async (t) => {
    const { folder, working, data, traceFile, env } = surroundings(t);
    const [strace = '', ...args] = [...straceCommand(traceFile), process.execPath, '-e', script];
    const running = run(strace, args, { cwd: working, env: { PATH: process.env.PATH, ...env } });
    const pid = running.child.pid as number;
    await running.catch(() => {});
    const contacts = outsideContacts(await finishedTrace(traceFile, pid), { paths: [data] });
    assert.notDeepEqual(contacts, [], folder);
  });
}

test('a program that stays in its data folder is not accused', async (t) => {
  const { working, data, traceFile, env } = surroundings(t);
  const script = `const fs = require('fs'), f = '${data}/a'; fs.writeFileSync(f, ''); fs.renameSync(f, f + 'b'); fs.readFileSync('/etc/hosts')`;
  const [strace = '', ...args] = [...straceCommand(traceFile), process.execPath, '-e', script];
  const running = run(strace, args, { cwd: working, env: { PATH: process.env.PATH, ...env } });
  await running;
  assert.deepEqual(
    outsideContacts(await finishedTrace(traceFile, running.child.pid as number), { paths: [data] }),
    [],
  );
});

test('serve contacts nobody but its clients, and writes nothing outside its data folder', async (t) => {
  const recording = fs.readFileSync('test/fixtures/human-lj-a.mp3');
  const { status, contacts } = await contactsOf(t, ['serve'], async (cli) => {
    const [, port] = await cli.printed(/is ready on http:\/\/127\.0\.0\.1:(\d+)/);
    const [, key = ''] = await cli.printed(/x-api-key: (vx_\S+)'/);
    const ask = async (target: string, options: object = {}) => {
      const answer = await request(Number(port), target, options);
      assert.equal(answer.status, 200, `${target} ${answer.text}`);
      return answer;
    };
    const headers = { 'x-api-key': key };
    const form = formBody([fileEntry(recording)]);
    const formHeaders = { ...headers, 'content-type': FORM_TYPE };
    await ask('/v1/predict', { method: 'POST', headers: formHeaders, body: form });
    const body = Buffer.from(JSON.stringify({ keys: ['a'], entity: 'analysis' }));
    const links = await ask('/v1/file', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    const link = new URL(links.json.url[0].value);
    await ask(link.pathname + link.search, { method: 'PUT', body: recording });
    for (const target of ['/livez', '/readyz', '/metrics', '/docs', '/openapi.json']) await ask(target);
    cli.child.kill('SIGTERM');
    return `127.0.0.1:${port}`;
  });
  assert.equal(status, 0);
  assert.deepEqual(contacts, []);
});

test('predict does the same with 300 files, and takes a command line of that length', async (t) => {
  const folder = temporaryFolder(t);
  const samples = Float32Array.from({ length: 16_000 }, (_, i) => 0.2 * Math.sin((i * i) / 4000));
  const first = path.join(folder, `${'a'.repeat(60)}.wav`);
  fs.writeFileSync(first, monoWav(samples, 16_000));
  const files = Array.from({ length: 300 }, (_, i) => `${first.slice(0, -4)}-${i}.wav`);
  for (const file of files) fs.linkSync(first, file);
  assert.ok(files.join(' ').length > 20_000);
  const { status, stdout, stderr, contacts } = await contactsOf(t, ['predict', ...files]);
  assert.equal(status, 0, stderr);
  assert.equal(stdout.match(/score/g)?.length, 300);
  assert.deepEqual(contacts, []);
});

test('doctor contacts nobody and writes nothing', async (t) => {
  const { status, contacts } = await contactsOf(t, ['doctor']);
  assert.equal(status, 0);
  assert.deepEqual(contacts, []);
});

test('every script that loads the library turns its telemetry off before', () => {
  const loads = /^(?:import|from|export|const).*onnxruntime(?:-node)?['"]?\b/m;
  const isOff = /telemetry[-_]off|ORT_DISABLE_TELEMETRY/;
  const loading = ['bench', 'training', 'scripts', 'src', 'test']
    .flatMap((folder) =>
      fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
    )
    .filter((file) => /\.(py|mjs|js|ts)$/.test(file))
    .map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }))
    .filter(({ text }) => loads.test(text));
  assert.ok(loading.length > 4, 'some were found');
  for (const { file, text } of loading) {
    if (/from '\.\.?\/.*onnxruntime\.js'/.test(text)) continue;
    assert.ok(text.search(isOff) >= 0 && text.search(isOff) < text.search(loads), file);
  }
});
