// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { AuditLog, type AuditLogOptions } from '../../src/state/records/audit-log.js';
import { temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict, predictHead, RawClient, request } from '../support/http-client.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const someRecord: RequestRecord = {
  correlationId: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
  method: 'POST',
  route: '/v1/predict',
  status: 200,
  keyId: '0123456789ab',
  account: 'one',
  stagesMs: { receive: 1.23456 },
  totalMs: 2,
};

/** A log written by hand, with a clock set by hand. */
function createLog(context: TestContext, options: Partial<AuditLogOptions> = {}) {
  const dataDir = temporaryFolder(context);
  const clock = { now: new Date('2026-11-21T12:00:00.000Z') };
  const errors: unknown[] = [];
  const lost = { lines: 0 };
  const log = new AuditLog(dataDir, {
    flushMs: 3_600_000,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    onLost: () => lost.lines++,
    ...options,
  });
  context.after(() => log.close());
  const file = (day = '2026-11-21'): string => path.join(log.dir, `${day}.jsonl`);
  const lines = (day?: string): Record<string, unknown>[] =>
    fs
      .readFileSync(file(day), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      // Other tests cover the log's lines about itself.
      .filter(({ event }) => event === undefined);
  return { dataDir, log, clock, errors, lost, file, lines };
}

test('lines that cannot be written wait, with one report, and are written in order once they can', async (t) => {
  const { log, errors, lines } = createLog(t);
  fs.writeFileSync(log.dir, 'in the way');
  for (let status = 200; status < 203; status++) {
    log.record({ ...someRecord, status });
    await log.flush();
  }
  assert.equal(errors.length, 1);
  fs.rmSync(log.dir);
  log.record({ ...someRecord, status: 203 });
  await log.flush();
  assert.deepEqual(
    lines().map(({ status }) => status),
    [200, 201, 202, 203],
  );
  assert.equal(errors.length, 1);
});

test('lines that come while others are written wait for the next time, so that a load does not write one by one', async (t) => {
  const { log, lines } = createLog(t);
  const statuses = () => lines().map(({ status }) => status);
  log.record({ ...someRecord, status: 200 });
  const writing = log.flush();
  // Writing has begun, and takes several more turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  for (let status = 201; status < 204; status++) log.record({ ...someRecord, status });
  await writing;
  assert.deepEqual(statuses(), [200]);
  await log.flush();
  assert.deepEqual(statuses(), [200, 201, 202, 203]);
});

test('lines that wait too long for the disk are lost and counted, and take no more memory', async (t) => {
  const { log, lost, lines } = createLog(t, { maxWaitingBytes: 1000 });
  for (let i = 0; i < 100; i++) log.record(someRecord);
  await log.flush();
  const kept = lines().length;
  assert.ok(kept >= 3 && kept <= 6, `${kept}`);
  assert.equal(lost.lines, 100 - kept);
  log.record(someRecord);
  await log.flush();
  assert.equal(lines().length, kept + 1);
});

test('a disk that takes nothing for long costs no more memory, not for lines about lost lines either', async (t) => {
  const { dataDir, log, lost } = createLog(t, { maxWaitingBytes: 1000 });
  fs.writeFileSync(log.dir, 'in the way');
  for (let i = 0; i < 200; i++) {
    log.record(someRecord);
    await log.flush();
  }
  const kept = 200 - lost.lines;
  fs.rmSync(log.dir);
  await log.flush();
  await log.flush();
  const [file = ''] = fs.readdirSync(path.join(dataDir, 'audit')).filter((name) => name.endsWith('.jsonl'));
  const text = fs.readFileSync(path.join(dataDir, 'audit', file), 'utf8');
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ event }) => event).filter((event) => event !== undefined),
    ['chain_started', 'lines_lost'],
  );
  assert.equal(events.length, kept + 2);
  assert.equal(events.at(-1).noRoom, lost.lines);
});

test('strangers get a bounded number of lines per second, known keys any number', async (t) => {
  const { log, clock, lost, lines } = createLog(t, { maxStrangersPerS: 3 });
  const { keyId: _id, account: _account, ...stranger } = someRecord;
  for (let i = 0; i < 10; i++) log.record({ ...stranger, status: 401 });
  for (let i = 0; i < 10; i++) log.record(someRecord);
  clock.now = new Date(clock.now.getTime() + 1000);
  log.record({ ...stranger, status: 401 });
  await log.flush();
  assert.equal(lines().length, 3 + 10 + 1);
  assert.equal(lost.lines, 7);
});

test('refusals of one key have a bounded number of lines per second, and take none from others', async (t) => {
  const { log, clock, lost, lines } = createLog(t, { maxRefusalsPerS: 3 });
  const refusal = { ...someRecord, status: 503, errorKey: 'OVERLOADED' } as const;
  for (let i = 0; i < 10; i++) log.record(refusal);
  for (let i = 0; i < 10; i++) log.record({ ...refusal, keyId: 'ba9876543210' });
  for (let i = 0; i < 10; i++) log.record({ ...someRecord, status: 422, errorKey: 'NO_SPEECH' });
  for (let i = 0; i < 10; i++) log.record(someRecord);
  clock.now = new Date(clock.now.getTime() + 1000);
  log.record(refusal);
  await log.flush();
  assert.equal(lines().length, 3 + 3 + 10 + 10 + 1);
  assert.equal(lost.lines, 14);
});

test('half a line that a crash left does not spoil the next', async (t) => {
  const { log, file } = createLog(t);
  log.record(someRecord);
  log.record(someRecord);
  await log.flush();
  fs.appendFileSync(file(), '{"seq":4,"time":"2026-11-21T11:5');
  log.record(someRecord);
  await log.flush();
  const [started, first, second, torn, note, third] = fs.readFileSync(file(), 'utf8').trimEnd().split('\n');
  assert.equal(torn, '{"seq":4,"time":"2026-11-21T11:5');
  assert.deepEqual(
    [started, first, second, note, third].map((line) => {
      const { seq, event, status, bytes } = JSON.parse(line ?? '');
      return [seq, event ?? status, bytes];
    }),
    [
      [1, 'chain_started', undefined],
      [2, 200, undefined],
      [3, 200, undefined],
      [4, 'torn_line', 32],
      [5, 200, undefined],
    ],
  );
});

test('each UTC day has its file; one that comes back by a clock that was set back has another', async (t) => {
  const { log, clock, lines } = createLog(t);
  for (const [status, time] of [
    [200, '2026-11-21T23:59:59.999Z'],
    [201, '2026-11-22T00:00:00.000Z'],
    [202, '2026-11-21T23:00:00.000Z'],
  ] as const) {
    clock.now = new Date(time);
    log.record({ ...someRecord, status });
    await log.flush();
  }
  assert.deepEqual(
    ['2026-11-21', '2026-11-22', '2026-11-21.2'].map((name) => lines(name).map(({ status }) => status)),
    [[200], [201], [202]],
  );
});

test('two servers on one folder write whole lines into one file, which only they read', async (t) => {
  const { dataDir, log, clock, file, lines } = createLog(t);
  const other = new AuditLog(dataDir, { flushMs: 3_600_000, now: () => clock.now });
  t.after(() => other.close());
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 20; i++) {
      log.record({ ...someRecord, status: 200 });
      other.record({ ...someRecord, status: 400 });
    }
    await Promise.all([log.flush(), other.flush()]);
  }
  const written = lines();
  assert.equal(written.length, 2000);
  assert.equal(written.filter(({ status }) => status === 200).length, 1000);
  assert.equal(fs.statSync(file()).mode & 0o777, 0o600);
  assert.equal(fs.statSync(log.dir).mode & 0o777, 0o700);
});

test('every request to the API has one line, written when the server stops, and nobody else has one', async (t) => {
  const { log, lines } = createLog(t);
  const { server, port, metric } = await startTestServer(t, {}, { recorders: [log] });
  const form = formBody([
    { name: 'file', content: noise(1000), filename: 'name-of-a-patient.wav' },
    { name: 'prediction_id', content: 'pred_of-the-caller' },
    { name: 'voice_vector', content: '[0.1234567890123]' },
    { name: 'presigned_url', content: 'https://storage.example/x?X-Amz-Signature=abc' },
    { name: 'threshold', content: '0.25' },
  ]);
  const answered = await predict(port, form);
  const refused = await predict(port, form, { headers: { 'x-api-key': `${API_KEY}-wrong` } });
  const wrong = await predict(port, formBody([fileEntry('')]));
  const otherMethod = await request(port, '/v1/predict', { method: 'DELETE' });
  for (const path of ['/livez', '/metrics', '/v1/nowhere']) await request(port, path);
  const leaving = await RawClient.connect(port);
  await leaving.write(predictHead({ 'content-length': 1000 }));
  // A server that stops before it has read a request does not know of it.
  await eventually(async () => (await metric('veravox_requests_in_flight')) === 1, 'the request is known');
  leaving.socket.destroy();
  await leaving.closed;
  await server.stop();

  const written = lines();
  assert.deepEqual(
    written.map(({ status, errorKey, keyId }) => [status, errorKey, keyId]),
    [
      [200, undefined, 'key-1'],
      [401, 'UNAUTHORIZED', undefined],
      [400, 'FILE_EMPTY', 'key-1'],
      [405, 'METHOD_NOT_ALLOWED', undefined],
      [499, undefined, 'key-1'],
    ],
  );
  for (const [index, answer] of [answered, refused, wrong, otherMethod].entries()) {
    assert.equal(written[index]?.correlationId, answer.headers['x-correlation-id']);
  }
  const [{ seq, hash, timesMs, ...first } = {}] = written;
  assert.deepEqual([seq, typeof hash], [2, 'string']);
  assert.deepEqual(first, {
    time: '2026-11-21T12:00:00.000Z',
    correlationId: answered.headers['x-correlation-id'],
    clientAddress: '127.0.0.1',
    keyId: 'key-1',
    account: 'one',
    method: 'POST',
    route: '/v1/predict',
    status: 200,
    bodyBytes: form.length,
    audioS: 10,
    scoredWindows: 2,
    skippedS: 0,
    model: 'apollo-4-5-2026-03-26',
    modelIds: ['apollo-4-5-2026-03-26'],
  });
  assert.deepEqual(Object.keys(timesMs as object), [
    'total',
    'receive',
    'queue',
    'decode',
    'features',
    'inference',
  ]);
  const text = JSON.stringify(written);
  for (const secret of ['patient', 'pred_of', '0.1234567890123', 'X-Amz', 'storage.example', API_KEY]) {
    assert.ok(!text.includes(secret), secret);
  }
});

test('a request that the stop cuts off has a line, also when its work takes a while to end', async (t) => {
  const { log, lines } = createLog(t);
  const server = await startTestServer(t, { stopDrainMs: 0 }, { recorders: [log] });
  const started = new Promise<void>((resolve) => {
    server.analyser.answer = async ({ signal }) => {
      resolve();
      await once(signal, 'abort');
      for (let turn = 0; turn < 20; turn++) await fs.promises.stat(log.dir).catch(() => {});
      throw signal.reason;
    };
  });
  server.analyser.close = async () => {};
  const cutOff = assert.rejects(predict(server.port, formBody([fileEntry(noise(1000))])));
  await started;
  await server.server.stop();
  await cutOff;
  assert.deepEqual(
    lines().map(({ status }) => status),
    [499],
  );
});
