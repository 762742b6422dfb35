// SPDX-License-Identifier: Apache-2.0
//
// Whatever happens to standard output, the server starts, answers and stops as usual.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { Cli, type CliOptions } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { listeningPortOf } from '../support/listening-port.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { undisturbedTime } from '../support/undisturbed.js';

const onTerminal = fileURLToPath(new URL('../../../../test/support/on-terminal.py', import.meta.url));

/** Models that load at once, since they are not tested here. */
const settings = (t: TestContext) => ({
  PORT: '0',
  VERAVOX_DATA_DIR: temporaryFolder(t),
  VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
});

/** Starts a server whose standard output is set by `options`. */
async function serve(t: TestContext, options: CliOptions) {
  const cli = new Cli(['serve'], settings(t), options);
  t.after(() => cli.child.kill('SIGKILL'));
  return { cli, port: await listeningPortOf(cli.child.pid as number) };
}

/** Each is a line of the log. */
async function askMany(port: number, requests: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  try {
    const one = async (): Promise<void> => {
      const { status } = await request(port, '/v1/file?entity=analysis', { agent });
      assert.equal(status, 401);
    };
    for (let asked = 0; asked < requests; asked += 8) await Promise.all(Array.from({ length: 8 }, one));
  } finally {
    agent.destroy();
  }
}

async function assertStops({ child, finished }: Cli): Promise<void> {
  const took = undisturbedTime();
  child.kill('SIGTERM');
  assert.equal((await finished).status, 0);
  // Without grace and requests, there is nothing to wait for.
  assert.ok(took() < 20_000, `${took()} ms`);
}

const closed: CliOptions = { runner: ['sh', '-c', 'exec "$@" >&-', 'sh'] };
const full: CliOptions = { runner: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] };
// The database needs its own space, in files that are shorter.
const fullFile = (file: string): CliOptions => ({
  runner: [
    'bash',
    '-c',
    `trap '' XFSZ; truncate -s 64M '${file}'; ulimit -f 65536; exec "$@" >>'${file}'`,
    'sh',
  ],
});

for (const [what, options] of [
  ['a full disk', () => full],
  ['a file that may not grow any more', (t: TestContext) => fullFile(path.join(temporaryFolder(t), 'log'))],
  ['nothing, because it is closed', () => closed],
] as const) {
  test(`a server starts, answers and stops when standard output is ${what}`, async (t) => {
    const { cli, port } = await serve(t, options(t));
    await askMany(port, 200);
    await assertStops(cli);
  });
}

test('a server goes on when the reader of its log has ended', async (t) => {
  const { cli, port } = await serve(t, {});
  cli.child.stdout?.destroy();
  await askMany(port, 200);
  await assertStops(cli);
});

test('a server goes on while the reader of its log stands still, and the lines come once it reads', async (t) => {
  const pipe = path.join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readEnd = fs.openSync(pipe, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const writeEnd = fs.openSync(pipe, 'w');
  const { cli, port } = await serve(t, { stdio: ['ignore', writeEnd, 'pipe'] });
  fs.closeSync(writeEnd);
  t.after(() => fs.closeSync(readEnd));
  const requests = 2000;
  await askMany(port, requests);
  let text = '';
  await eventually(() => {
    const buffer = Buffer.alloc(1 << 16);
    try {
      text += buffer.toString('utf8', 0, fs.readSync(readEnd, buffer));
    } catch {}
    return text.split('"msg":"request"').length > requests;
  }, 'all lines');
  for (const line of text
    .split('\n')
    .filter((entry) => entry.startsWith('{'))
    .slice(0, -1))
    JSON.parse(line);
  const { text: metrics } = await request(port, '/metrics');
  assert.match(metrics, /^veravox_log_lines_dropped_total 0$/m);
  // It is blocked again, with lines to write.
  await askMany(port, 400);
  await assertStops(cli);
});

test('a terminal that was stopped by Ctrl-S does not stop the server; its lines are short, Ctrl-C explains itself', async (t) => {
  const { PATH = '' } = process.env;
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const env = { PATH, VERAVOX_DEVICE: 'cpu', VERAVOX_STOP_GRACE_MS: '0', ...settings(t) };
  const child = spawn('python3', [onTerminal, process.execPath, main, 'serve'], { env });
  t.after(() => child.kill('SIGKILL'));
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += stripVTControlCharacters(String(chunk));
  });
  const shows = (pattern: RegExp) => eventually(() => pattern.test(shown), `${pattern}`);
  await shows(/is ready on http:\/\/127\.0\.0\.1:\d+/);
  const pid = Number(/^pid (\d+)/.exec(shown)?.[1]);
  t.after(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  });
  const port = Number(/is ready on http:\/\/127\.0\.0\.1:(\d+)/.exec(shown)?.[1]);
  child.stdin.write('stop\n');
  await askMany(port, 400);
  child.stdin.write('go\n');
  await shows(/\d\d:\d\d:\d\d info {2}GET \/v1\/file 401 [\d.]+ ms {2}127\.0\.0\.1 {2}UNAUTHORIZED/);
  assert.doesNotMatch(shown, /"level"/);
  const exited = once(child, 'exit');
  child.stdin.write('interrupt\n');
  await shows(/Press Ctrl-C again to stop immediately/);
  const [status] = await exited;
  assert.equal(status, 0);
});
