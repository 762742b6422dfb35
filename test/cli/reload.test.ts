// SPDX-License-Identifier: Apache-2.0
//
// `veravox serve` on SIGHUP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import {
  type TinyDetector,
  tinyDetectors,
  tinyEntry,
  writeManifest,
  writeTinyModels,
} from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';

/** Ten seconds that count as speech regardless of content: see `silence_threshold`. */
const body = formBody([
  { name: 'silence_threshold', content: '100' },
  fileEntry(monoWav(new Float32Array(160_000), 16_000)),
]);

interface Served {
  readonly cli: Cli;
  readonly pid: number;
  readonly port: number;
  readonly modelsDir: string;
  readonly dataDir: string;
  use(kind: TinyDetector): void;
  hangUp(): void;
  /** The score that a request gets now; fails for any other answer. */
  score(): Promise<number>;
  metric(series: string): Promise<number>;
  /** Resolves when this many reloads have ended with this result. */
  reloaded(result: 'loaded' | 'failed', count: number): Promise<void>;
}

async function serve(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const modelsDir = writeTinyModels(temporaryFolder(t), 'even');
  const dataDir = temporaryFolder(t);
  const settings = { PORT: '0', VERAVOX_DATA_DIR: dataDir, VERAVOX_MODELS_DIR: modelsDir, ...env };
  const cli = new Cli(['serve'], settings);
  t.after(async () => {
    cli.child.kill('SIGKILL');
    const { status, stdout, stderr } = await cli.finished;
    // Of a test that failed: with SIGKILL if the server was still running.
    if (status !== 0)
      t.diagnostic(`The server ended with ${status ?? cli.child.signalCode}:\n${stdout}${stderr}`);
  });
  return watched(cli, { modelsDir, dataDir });
}

async function watched(cli: Cli, folders: Pick<Served, 'modelsDir' | 'dataDir'>): Promise<Served> {
  const [, ready] = await cli.printed(/is ready on http:\/\/127\.0\.0\.1:(\d+)/);
  const [, key] = await cli.printed(/^ {2}(vx_\S+)$/m);
  const port = Number(ready);
  const pid = cli.child.pid ?? assert.fail();
  async function metric(series: string): Promise<number> {
    const { text } = await request(port, '/metrics');
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  }
  return {
    cli,
    pid,
    port,
    ...folders,
    use: (kind) => void writeTinyModels(folders.modelsDir, kind),
    hangUp: () => process.kill(pid, 'SIGHUP'),
    async score() {
      const { status, json, text } = await predict(port, body, { headers: { 'x-api-key': key } });
      assert.equal(status, 200, text);
      return json.global.score;
    },
    metric,
    reloaded: (result, count) =>
      eventually(
        async () => (await metric(`veravox_reload_total{result="${result}"}`)) === count,
        `${count} ${result}`,
      ),
  };
}

const isScoreOf = (kind: TinyDetector, score: number): boolean =>
  Math.abs(score - tinyDetectors[kind].score) < 1e-3;

async function stop({ cli }: Served): Promise<void> {
  cli.child.kill('SIGTERM');
  const { status, stderr } = await cli.finished;
  assert.deepEqual([status, stderr], [0, '']);
}

const errorLines = ({ cli }: Served): Record<string, { message: string }>[] =>
  cli.stdout
    .split('\n')
    .filter((line) => line.startsWith('{"level":"error"'))
    .map((line) => JSON.parse(line));

test('a manifest or a model that cannot be used leaves everything as it was, and one line says why', async (t) => {
  const served = await serve(t);
  const { modelsDir } = served;
  const file = path.join(modelsDir, 'manifest.json');
  const entry = () => tinyEntry(modelsDir, 'apollo-4-5-2026-03-26', 'high');
  const faults: readonly [what: string, write: () => void, message: RegExp][] = [
    ['no manifest', () => fs.rmSync(file), /manifest\.json/],
    ['half a manifest', () => fs.writeFileSync(file, '{"version":1,'), /manifest\.json is not JSON/],
    ['an unknown member', () => writeManifest(modelsDir, [{ ...entry(), windw: 1 }]), /windw/],
    [
      'another file than its SHA-256 says',
      () => writeManifest(modelsDir, [{ ...entry(), sha256: '0'.repeat(64) }]),
      /expected the SHA-256 0{64}/,
    ],
    [
      'a file that does not fit its entry',
      () =>
        writeManifest(modelsDir, [{ ...entry(), input: { name: 'samples', shape: ['batch', 1, 80_000] } }]),
      /expected an input named samples/,
    ],
    [
      'a recipe that does not fit the input',
      () => writeManifest(modelsDir, [{ ...entry(), window_samples: 64_600, hop_samples: 64_600 }]),
      /64600|80000/,
    ],
  ];
  for (const [i, [what, write, message]] of faults.entries()) {
    write();
    served.hangUp();
    await served.reloaded('failed', i + 1);
    assert.ok(isScoreOf('even', await served.score()), what);
    assert.equal((await request(served.port, '/readyz')).status, 200);
    await eventually(() => errorLines(served).length === i + 1, 'a line is written');
    assert.match(errorLines(served)[i]?.err?.message ?? '', message, what);
  }
  assert.equal(await served.metric('veravox_reload_total{result="loaded"}'), 0);
  served.use('high');
  served.hangUp();
  await served.reloaded('loaded', 1);
  assert.ok(isScoreOf('high', await served.score()));
  await stop(served);
});

test('under load no request is refused or cut off by reloads, and each score is that of one of the models', async (t) => {
  // Other tests' load must not fill the queue.
  const served = await serve(t, { VERAVOX_MAX_WAIT_MS: '60000' });
  let isDone = false;
  const answered = { even: 0, high: 0 };
  const worker = async (): Promise<void> => {
    while (!isDone) {
      const score = await served.score();
      const kind = (['even', 'high'] as const).find((candidate) => isScoreOf(candidate, score));
      answered[kind ?? assert.fail(`${score}`)]++;
      assert.equal((await request(served.port, '/readyz')).status, 200);
    }
  };
  const load = Promise.all(Array.from({ length: 4 }, worker));
  const kinds: readonly TinyDetector[] = ['high', 'even', 'high'];
  const reloads = (async () => {
    for (const [i, kind] of kinds.entries()) {
      const before = answered.even + answered.high;
      served.use(kind);
      served.hangUp();
      await served.reloaded('loaded', i + 1);
      // From its answer on, new requests get the new models.
      assert.ok(isScoreOf(kind, await served.score()));
      await eventually(() => answered.even + answered.high > before + 8, 'requests go on');
    }
    isDone = true;
  })();
  await Promise.all([load, reloads]);
  assert.ok(answered.even > 0 && answered.high > 0);
  await eventually(async () => (await served.metric('veravox_model_sets')) === 1, 'one set is left');
  assert.equal(await served.metric('veravox_reload_total{result="failed"}'), 0);
  t.diagnostic(`${answered.even} and ${answered.high} requests`);
  await stop(served);
});

function memoryOf(pid: number): { rssMiB: number; threads: number; descriptors: number } {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const numberOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const descriptors = fs.readdirSync(`/proc/${pid}/fd`).length;
  return { rssMiB: numberOf('VmRSS') / 1024, threads: numberOf('Threads'), descriptors };
}

test('threads, descriptors and memory come back after many reloads', async (t) => {
  const served = await serve(t);
  let count = 0;
  const reloadTimes = async (times: number) => {
    for (let i = 0; i < times; i++) {
      served.use(++count % 2 === 0 ? 'even' : 'high');
      served.hangUp();
      await served.reloaded('loaded', count);
      await served.score();
    }
    await eventually(async () => (await served.metric('veravox_model_sets')) === 1, 'one set is left');
  };
  // The first ones still grow the heaps of V8 and of the allocator.
  await reloadTimes(5);
  const before = memoryOf(served.pid);
  await reloadTimes(10);
  // A thread's end is noticed slightly later than the end of its pool; sockets and files come and go.
  await eventually(() => {
    const { threads, descriptors } = memoryOf(served.pid);
    return threads <= before.threads && descriptors <= before.descriptors + 2;
  }, 'as many threads and descriptors as before');
  const after = memoryOf(served.pid);
  t.diagnostic(`${JSON.stringify(before)} before, ${JSON.stringify(after)} after ten more`);
  // A set of these models has 10 MiB of slots, and four threads with their own heaps: ten leaked sets would take over
  // 100 MiB.
  assert.ok(after.rssMiB < before.rssMiB + 60, `${before.rssMiB} MiB became ${after.rssMiB} MiB`);
  await stop(served);
});

test('signals in quick succession, and during a reload, end with the models of the last', async (t) => {
  const served = await serve(t);
  for (let i = 0; i < 10; i++) {
    served.use(i % 2 === 0 ? 'even' : 'high');
    served.hangUp();
  }
  await eventually(async () => isScoreOf('high', await served.score()), 'the last models answer');
  await eventually(async () => (await served.metric('veravox_model_sets')) === 1, 'one set is left');
  assert.equal(await served.metric('veravox_reload_total{result="failed"}'), 0);
  await stop(served);
});

test('a signal during the start reloads once the server is ready', async (t) => {
  const modelsDir = writeTinyModels(temporaryFolder(t), 'even');
  const dataDir = temporaryFolder(t);
  const settings = { PORT: '0', VERAVOX_DATA_DIR: dataDir, VERAVOX_MODELS_DIR: modelsDir };
  const cli = new Cli(['serve'], settings);
  t.after(() => cli.child.kill('SIGKILL'));
  // The database is opened before the models are loaded.
  await eventually(() => fs.existsSync(path.join(dataDir, 'veravox.db')), 'the start is under way');
  cli.child.kill('SIGHUP');
  const served = await watched(cli, { modelsDir, dataDir });
  await served.reloaded('loaded', 1);
  await stop(served);
});

test('a signal during a stop, or a stop during a reload, ends with code 0', async (t) => {
  const served = await serve(t, { VERAVOX_STOP_GRACE_MS: '4000' });
  served.hangUp();
  served.cli.child.kill('SIGTERM');
  await served.cli.printed(/"msg":"stopping"/);
  served.hangUp();
  const { status, stderr, stdout } = await served.cli.finished;
  assert.deepEqual([status, stderr], [0, ''], stdout);
  assert.match(stdout, /models not reloaded: the server is stopping/);
  assert.doesNotMatch(stdout, /models reloaded|could not be reloaded/);
});

/** Runs a program in its own terminal, sends it the signal, and then closes the terminal. */
const inTerminal = `
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
def read_until(text):
    output = b''
    while text not in output:
        output += os.read(terminal, 65536)
read_until(b'is ready on')
os.kill(pid, signal.SIGHUP)
read_until(b'models reloaded')
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test('in a terminal the signal reloads, too, and the end of the terminal ends the server', async (t) => {
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const { stdout } = await promisify(execFile)(
    'python3',
    ['-c', inTerminal, process.execPath, main, 'serve'],
    {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        VERAVOX_DATA_DIR: temporaryFolder(t),
        VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
        VERAVOX_DEVICE: 'cpu',
        VERAVOX_STOP_GRACE_MS: '0',
      },
    },
  );
  // By the signal, as if unhandled.
  assert.equal(stdout, '-1\n');
});
