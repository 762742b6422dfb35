// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RequestRecord } from '../src/base/observe/request-record.js';
import { UsageMeter, type UsageMeterOptions } from '../src/state/records/usage-meter.js';
import { readUsage } from '../src/state/records/usage-report.js';
import { temporaryFolder } from './support/cli.js';
import { fileEntry, formBody, noise } from './support/form-body.js';
import { predict, request } from './support/http-client.js';
import { keysOf, withKey } from './support/keys.js';
import { startTestServer } from './support/test-server.js';

const someRecord: RequestRecord = {
  correlationId: '',
  method: 'POST',
  route: '/v1/predict',
  status: 200,
  keyId: 'key-1',
  account: 'one',
  bodyBytes: 1000,
  audioS: 2.5,
  scoredWindows: 1,
  stagesMs: {},
  totalMs: 1,
};

function createMeter(context: TestContext, dataDir: string, options: Partial<UsageMeterOptions> = {}) {
  const clock = { now: new Date('2026-11-21T12:00:00Z') };
  const errors: unknown[] = [];
  const meter = new UsageMeter(dataDir, {
    flushMs: 3_600_000,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...options,
  });
  context.after(() => meter.close());
  return { meter, clock, errors };
}

const requestsOf = (dataDir: string): number[] => readUsage(dataDir).map(({ requests }) => requests);

test('a damaged file is an error that names it, not usage that is missing', async (t) => {
  const dataDir = temporaryFolder(t);
  const { meter } = createMeter(t, dataDir);
  meter.record(someRecord);
  await meter.flush();
  const [name = ''] = fs.readdirSync(meter.dir);
  const file = path.join(meter.dir, name);
  const good = fs.readFileSync(file, 'utf8');
  for (const bad of ['', good.slice(0, 20), '[]', '{"rows":[{}]}', good.replace('1000', '"1000"')]) {
    fs.writeFileSync(file, bad);
    assert.throws(
      () => readUsage(dataDir),
      /^Error: The usage file .*\/2026-11-21\..*\.json is damaged: /,
      bad,
    );
  }
});

test('counts that cannot be written are kept, with one report, until they can', async (t) => {
  const dataDir = temporaryFolder(t);
  const { meter, clock, errors } = createMeter(t, dataDir);
  fs.writeFileSync(meter.dir, 'in the way');
  meter.record(someRecord);
  await meter.flush();
  clock.now = new Date('2026-11-22T12:00:00Z');
  meter.record(someRecord);
  await meter.flush();
  assert.equal(errors.length, 1);
  fs.rmSync(meter.dir);
  await meter.flush();
  assert.deepEqual(
    readUsage(dataDir).map(({ day, requests }) => [day, requests]),
    [
      ['2026-11-21', 1],
      ['2026-11-22', 1],
    ],
  );
  assert.equal(errors.length, 1);
});

test('a process that is killed loses nothing that was written, and half a file of its counts for nothing', async (t) => {
  const dataDir = temporaryFolder(t);
  const module = new URL('../src/state/records/usage-meter.js', import.meta.url).href;
  const source = `
    const { UsageMeter } = await import(${JSON.stringify(module)});
    const meter = new UsageMeter(${JSON.stringify(dataDir)});
    const record = ${JSON.stringify(someRecord)};
    for (let i = 0; i < 7; i++) meter.record(record);
    await meter.flush();
    meter.record(record);
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', source]);
  assert.equal(signal, 'SIGKILL');
  assert.deepEqual(requestsOf(dataDir), [7]);
  fs.writeFileSync(path.join(dataDir, 'usage', '2026-11-21.x.json.tmp'), '{"rows":[{"ke');
  assert.deepEqual(requestsOf(dataDir), [7]);
});

test('several servers on one folder add up, and one that starts again counts on', async (t) => {
  const dataDir = temporaryFolder(t);
  const meters = [createMeter(t, dataDir), createMeter(t, dataDir), createMeter(t, dataDir)];
  for (let round = 0; round < 20; round++) {
    for (const { meter } of meters) meter.record(someRecord);
    await Promise.all(meters.map(({ meter }) => meter.flush()));
  }
  assert.deepEqual(requestsOf(dataDir), [60]);
});

test('what is counted while a file is being written is in the next', async (t) => {
  const dataDir = temporaryFolder(t);
  const { meter } = createMeter(t, dataDir);
  meter.record(someRecord);
  const writing = meter.flush();
  await Promise.resolve();
  meter.record(someRecord);
  await writing;
  await meter.flush();
  assert.deepEqual(requestsOf(dataDir), [2]);
});

test('usage is told by UTC day, account, key and route', async (t) => {
  const dataDir = temporaryFolder(t);
  const { meter, clock } = createMeter(t, dataDir);
  clock.now = new Date('2026-11-21T23:59:59.999Z');
  meter.record(someRecord);
  meter.record({ ...someRecord, status: 429, bodyBytes: 0, audioS: 0, scoredWindows: 0 });
  meter.record({ ...someRecord, route: '/v0/predict' });
  meter.record({ ...someRecord, keyId: 'key-2', account: 'alpha' });
  await meter.flush();
  clock.now = new Date('2026-11-22T00:00:00Z');
  meter.record(someRecord);
  await meter.flush();
  // A clock that is put back does not overwrite what the day had.
  clock.now = new Date('2026-11-21T23:00:00Z');
  meter.record(someRecord);
  await meter.flush();

  const one = { account: 'one', keyId: 'key-1' };
  const once = { requests: 1, errors: 0, audioS: 2.5, windows: 1, bytes: 1000 };
  const day = '2026-11-21';
  const alpha = { day, account: 'alpha', keyId: 'key-2', route: '/v1/predict', ...once };
  const v0 = { day, ...one, route: '/v0/predict', ...once };
  const thrice = { requests: 3, errors: 1, audioS: 5, windows: 2, bytes: 2000 };
  const v1 = { day, ...one, route: '/v1/predict', ...thrice };
  const next = { day: '2026-11-22', ...one, route: '/v1/predict', ...once };
  assert.deepEqual(readUsage(dataDir), [alpha, v0, v1, next]);
  assert.deepEqual(readUsage(dataDir, { account: 'alpha' }), [alpha]);
  assert.deepEqual(readUsage(dataDir, { keyId: 'key-1', to: day }), [v0, v1]);
  assert.deepEqual(readUsage(dataDir, { from: '2026-11-22' }), [next]);
  assert.deepEqual(readUsage(dataDir, { keyId: 'key-1', account: 'alpha' }), []);
});

test('without a folder there is no usage', (t) => {
  assert.deepEqual(readUsage(temporaryFolder(t)), []);
});

test('a server that stops has counted every request of a valid key, what it cut off included', async (t) => {
  const dataDir = temporaryFolder(t);
  const { meter } = createMeter(t, dataDir);
  const keys = keysOf(
    { id: 'a', account: 'one' },
    { id: 'b', account: 'two', rate: { requests: 1, windowS: 60 } },
  );
  const { server, port, analyser } = await startTestServer(
    t,
    { stopDrainMs: 20 },
    { keys, recorders: [meter] },
  );
  const form = formBody([fileEntry(noise(1000))]);
  for (let round = 0; round < 3; round++) await predict(port, form, { headers: withKey('a') });
  await predict(port, formBody([]), { headers: withKey('a') });
  await predict(port, form, { headers: withKey('b') });
  await predict(port, form, { headers: withKey('b') });
  await predict(port, form, { headers: withKey('unknown') });
  await request(port, '/livez');
  // Never answered: the double stands for an analyser whose close rejects what is running.
  const { answer } = analyser;
  const started = new Promise<void>((resolve) => {
    analyser.answer = async (analysis) => {
      resolve();
      await new Promise((_, reject) => {
        analysis.signal.addEventListener('abort', () => reject(analysis.signal.reason));
      });
      return answer(analysis);
    };
  });
  const cutOff = predict(port, form, { headers: withKey('a') }).catch((error: unknown) => error);
  await started;
  await server.stop();
  await cutOff;
  const route = '/v1/predict';
  const day = '2026-11-21';
  assert.deepEqual(readUsage(dataDir), [
    {
      day,
      account: 'one',
      keyId: 'a',
      route,
      requests: 5,
      errors: 2,
      audioS: 30,
      windows: 6,
      bytes: 4 * form.length + formBody([]).length,
    },
    {
      day,
      account: 'two',
      keyId: 'b',
      route,
      requests: 2,
      errors: 1,
      audioS: 10,
      windows: 2,
      bytes: form.length,
    },
  ]);
});
