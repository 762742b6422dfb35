// SPDX-License-Identifier: Apache-2.0
//
// A start that fails, wherever it does, leaves nothing open and tells its first reason.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { Closers } from '../../src/base/closers.js';
import type { Config } from '../../src/base/config/options.js';
import type { ServiceLog } from '../../src/base/observe/log.js';
import { startService } from '../../src/service/service.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import { openFilesOf } from '../support/open-files.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { until } from '../support/until.js';

// Each start waits for the end of the process, to remove its crash notes.
process.setMaxListeners(0);

const folder = fs.mkdtempSync(path.join(fs.realpathSync('/tmp'), 'veravox-'));
after(() => fs.rmSync(folder, { recursive: true }));
const loopback = { host: '127.0.0.1', port: 0 };
const config: Config = {
  ...testConfig,
  dataDir: path.join(folder, 'data'),
  modelsDir: writeTinyModels(folder, 'even'),
  adminAddress: loopback,
  dashboard: 'on',
  jobWorkers: 1,
  audit: 'file',
  usageDays: 1,
  otlpEndpoint: 'http://127.0.0.1:9/v1/traces',
};

/** Polls and sweeps that run, also if they do not keep the process from ending. */
const intervals = new Set<NodeJS.Timeout>();
const { setInterval: begin, clearInterval: end } = globalThis;
globalThis.setInterval = ((...args: Parameters<typeof begin>) => {
  const timer = begin(...args);
  intervals.add(timer);
  return timer;
}) as typeof begin;
globalThis.clearInterval = ((timer: NodeJS.Timeout) => {
  intervals.delete(timer);
  end(timer);
}) as typeof end;

/** Files and sockets by kind, polls, and handles that keep the process from ending, workers among them. */
function openParts(): string[] {
  const files = openFilesOf(process.pid).map((name) => name.replace(/\[.*\]$/, ''));
  // A histogram that has stopped ends with its memory.
  const handles = process.getActiveResourcesInfo().filter((kind) => kind !== 'IntervalHistogram');
  return [...files, ...handles, ...[...intervals].map(() => 'interval')];
}

function openedSince(before: readonly string[]): string[] {
  const known = [...before];
  return openParts().filter((part) => {
    const at = known.indexOf(part);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

async function start(given: Partial<Config>, isWorker: boolean) {
  const lines: { readonly level: string; readonly msg: string }[] = [];
  const logger = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const log = { logger, countDropped: () => {} } as unknown as ServiceLog;
  const database = await openDatabase({ ...config, ...given });
  const service = startService({
    config: { ...config, ...given },
    log,
    parent: undefined,
    database,
    isWorker,
  });
  return { service, lines };
}

/** Everything that one start opens, by name. */
async function stepsOf(isWorker: boolean): Promise<readonly string[]> {
  const steps: string[] = [];
  const { add } = Closers.prototype;
  Closers.prototype.add = function (this: Closers, ...given: Parameters<typeof add>) {
    steps.push(given[0]);
    add.apply(this, given);
  };
  try {
    const { service } = await start({}, isWorker);
    await (await service).stop();
  } finally {
    Closers.prototype.add = add;
  }
  return steps;
}

async function assertLeavesNothing(given: Partial<Config>, reason: RegExp, isWorker = false): Promise<void> {
  const before = openParts();
  const { service, lines } = await start(given, isWorker);
  await assert.rejects(service, reason);
  const errors = lines.filter(({ level, msg }) => level === 'error' || msg === 'stopped');
  assert.deepEqual(errors, []);
  try {
    await until(() => openedSince(before).length === 0);
  } catch {
    assert.deepEqual(openedSince(before), []);
  }
}

const steps = { server: await stepsOf(false), worker: await stepsOf(true) };

for (const [kind, names] of Object.entries(steps)) {
  const isWorker = kind === 'worker';
  test(`a ${kind} opens its parts one by one`, () => {
    assert.ok(names.length > 12, names.join());
    assert.equal(new Set(names).size, names.length);
  });

  // Up to there, both are the same.
  for (const name of isWorker ? names.slice(names.indexOf('models in use')) : names) {
    test(`a ${kind} whose start fails after "${name}" leaves nothing open`, async (t) => {
      const { add } = Closers.prototype;
      t.mock.method(Closers.prototype, 'add', function (this: Closers, ...given: Parameters<typeof add>) {
        add.apply(this, given);
        if (given[0] === name) throw new Error(`planted after ${name}`);
      });
      await assertLeavesNothing({}, new RegExp(`^Error: planted after ${name}$`), isWorker);
    });
  }
}

for (const name of ['models', 'keys and points', 'parts of the server']) {
  test(`a failure of "${name}" while the others still open leaves nothing open`, async (t) => {
    const { opening } = Closers.prototype;
    t.mock.method(Closers.prototype, 'opening', function (
      this: Closers,
      ...given: Parameters<typeof opening>
    ) {
      const opened = opening.apply(this, given);
      return given[0] === name ? Promise.reject(new Error('planted')) : opened;
    } as typeof opening);
    await assertLeavesNothing({}, /^Error: planted$/);
  });
}

async function takenPort(t: TestContext): Promise<number> {
  const server = net.createServer().listen(loopback);
  await once(server, 'listening');
  t.after(() => once(server.close(), 'close'));
  return (server.address() as AddressInfo).port;
}

async function damagedPoint(t: TestContext): Promise<Partial<Config>> {
  const dataDir = temporaryFolder(t);
  const database = await openDatabase({ ...config, dataDir });
  await database.execute("INSERT INTO operating_points VALUES ('strict', 'any', '{}', 1)");
  await database.close();
  return { dataDir };
}

const tlsFile = 'test/fixtures/human-lj-a.flac';
type Cause = readonly [reason: RegExp, (t: TestContext) => Partial<Config> | Promise<Partial<Config>>];
const causes: Readonly<Record<string, Cause>> = {
  'there are no models': [/manifest\.json/, (t) => ({ modelsDir: temporaryFolder(t) })],
  'a point is damaged': [/The operating point strict .* cannot be used/, damagedPoint],
  'the memory is too small': [
    /maxInflightBytes is/,
    () => ({ maxInflightBytes: testConfig.maxPredictBytes }),
  ],
  'the certificate is none': [/\.flac/, () => ({ tlsCertFile: tlsFile, tlsKeyFile: tlsFile })],
  'the port is taken': [/Cannot listen on/, async (t) => ({ port: await takenPort(t) })],
  'the port for operators is taken': [
    /Cannot listen on/,
    async (t) => ({ adminAddress: { ...loopback, port: await takenPort(t) } }),
  ],
};
for (const [cause, [reason, settings]] of Object.entries(causes)) {
  test(`a start that fails since ${cause} leaves nothing open`, async (t) => {
    await assertLeavesNothing(await settings(t), reason);
  });
}
