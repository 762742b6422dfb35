// SPDX-License-Identifier: Apache-2.0
//
// A process that hangs is killed and replaced, a busy one is not. In order: the tests share a server, since starting one
// takes seconds.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { processState } from '../../src/state/data-folder/process-state.js';
import { Cli, runCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { formBody } from '../support/form-body.js';
import { postForm, RawClient, request } from '../support/http-client.js';
import { createKey } from '../support/stored-keys.js';
import { writeTinyModels } from '../support/tiny-models.js';

const HANG_TIMEOUT_MS = 4000;

let folder: string;
let cli: Cli;
let port: number;
let apiKey: string;

async function metric(name: string): Promise<number> {
  const { text } = await request(port, '/metrics');
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

function servingProcesses(): number[] {
  const supervisor = cli.child.pid as number;
  const children = fs.readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

async function bothAnswer(): Promise<boolean> {
  try {
    const answers = await Promise.all(Array.from({ length: 8 }, () => request(port, '/readyz')));
    return answers.every(({ status }) => status === 200) && servingProcesses().length === 2;
  } catch {
    return false;
  }
}

let replacements = 0;

/** After the next process listens in its place: before, it would have longer than the limit. */
async function replaced(pid: number): Promise<void> {
  replacements++;
  await eventually(
    async () =>
      cli.stdout.split('"msg":"listening"').length - 1 === 2 + replacements &&
      !servingProcesses().includes(pid) &&
      (await bothAnswer()),
    'another process has its place',
  );
}

/** The signal takes effect when the process next runs, which takes a while on a busy machine. */
async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(() => processState(pid)?.state.startsWith('T') ?? false, 'the process is stopped');
}

interface Hang {
  readonly level: string;
  readonly pid: number;
  readonly state: string;
}

/** The last of this many log lines about hanging processes. */
async function hangInLog(number: number): Promise<Hang> {
  const lines = (): string[] =>
    cli.stdout.split('\n').filter((line) => line.includes('a process does not respond: killing it'));
  await eventually(() => lines().length === number, 'the log says that a process hangs');
  const { level, pid, state } = JSON.parse(lines()[number - 1] ?? '');
  return { level, pid, state };
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-hanging-'));
  const dataDir = path.join(folder, 'data');
  apiKey = (await createKey(dataDir, { name: 'any', scopes: ['predict'] })).text;
  cli = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: '2',
    VERAVOX_HANG_TIMEOUT_MS: String(HANG_TIMEOUT_MS),
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even'),
    NODE_OPTIONS: `--import=${new URL('../support/hang-on-signal.js', import.meta.url)}`,
  });
  const [, started = ''] = await cli.printed(/^veravox is ready on http:\/\/127\.0\.0\.1:(\d+)$/m);
  port = Number(started);
});

after(() => {
  // Its processes end with it, unless they are stopped.
  if (cli.child.exitCode === null) for (const pid of servingProcesses()) process.kill(pid, 'SIGKILL');
  cli.child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
});

test('a stopped process is killed and replaced, while the other one answers', async () => {
  const [hanging = 0] = servingProcesses();
  const clients = await Promise.all(Array.from({ length: 16 }, () => RawClient.connect(port)));
  await stop(hanging);
  const answers = await Promise.allSettled(
    clients.map(async (client) => {
      await client.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await client.until(/\r\n\r\n/);
      return processState(hanging)?.state;
    }),
  );
  assert.ok(
    answers.some((answer) => answer.status === 'fulfilled' && answer.value?.startsWith('T')),
    'answers come while the process is stopped',
  );
  for (const { socket } of clients) socket.destroy();
  await replaced(hanging);
  assert.equal(await metric('veravox_process_hangs_total'), 1);
  assert.equal(await metric('veravox_process_restarts_total'), 1);
  assert.deepEqual(await hangInLog(1), { level: 'error', pid: hanging, state: 'T (stopped)' });
});

test('a process that works as much as it can is left alone', async () => {
  const serving = servingProcesses();
  const file = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const body = formBody([{ name: 'file', filename: 'a', content: file }]);
  const endMs = performance.now() + 2 * HANG_TIMEOUT_MS;
  const statuses = new Map<number, number>();
  const ask = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const { status } = await postForm(port, '/v1/predict', body, { headers: { 'x-api-key': apiKey } });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 24 }, ask));
  assert.ok((statuses.get(200) ?? 0) > 0, JSON.stringify([...statuses]));
  assert.deepEqual(servingProcesses(), serving);
  assert.equal(await metric('veravox_process_hangs_total'), 1);
});

test('a process whose event loop is blocked is killed and replaced', async () => {
  const [hanging = 0] = servingProcesses();
  process.kill(hanging, 'SIGUSR2');
  await replaced(hanging);
  assert.equal(await metric('veravox_process_hangs_total'), 2);
  assert.deepEqual(await hangInLog(2), { level: 'error', pid: hanging, state: 'R (running)' });
});

test('a process with a debugger is left alone', async () => {
  const [debugged = 0, other = 0] = servingProcesses();
  process.kill(debugged, 'SIGWINCH');
  await eventually(() => cli.stderr.includes('Debugger listening'), 'it listens for a debugger');
  // Longer than the interval of the supervisor's checks.
  await stop(other);
  await replaced(other);
  await stop(debugged);
  const another = servingProcesses().find((pid) => pid !== debugged) ?? 0;
  await stop(another);
  assert.equal((await hangInLog(4)).pid, another);
  assert.equal(processState(debugged)?.state, 'T (stopped)');
  process.kill(debugged, 'SIGCONT');
  await replaced(another);
  assert.ok(servingProcesses().includes(debugged));
});

test('a process that hangs does not hold up a stop', async () => {
  // The newest one has no debugger.
  const hanging = servingProcesses().at(-1) as number;
  await stop(hanging);
  cli.child.kill('SIGTERM');
  assert.equal((await cli.finished).status, 0);
});

test('a time limit without a supervisor is a contradiction', async () => {
  const { status, stderr } = await runCli(['serve'], { VERAVOX_HANG_TIMEOUT_MS: '5s', PORT: '0' });
  assert.equal(status, 1);
  assert.match(stderr, /VERAVOX_HANG_TIMEOUT_MS needs VERAVOX_PROCESSES/);
});
