// SPDX-License-Identifier: Apache-2.0
//
// A key that sends far too much must not take time from accepted requests: its refusals take a short cut, which clients
// cannot tell from the usual way.
import assert from 'node:assert/strict';
import http from 'node:http';
import { type TestContext, test } from 'node:test';
import type { RequestRecord } from '../../../src/base/observe/request-record.js';
import { AuditLog } from '../../../src/state/records/audit-log.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { holdAnalyses } from '../../support/held-analyses.js';
import { type Answer, predict, predictHead, RawClient } from '../../support/http-client.js';
import { keysOf, withKey } from '../../support/keys.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const body = formBody([fileEntry(noise(20_000))]);
const headers = withKey('greedy');
const ID = '6f9619ff-8b86-4011-b42d-00cf4fc964ff';

/** A server with a full queue, to which the key `greedy` has sent too much. The second ends only with `endSecond`. */
async function startFlood(t: TestContext, { usual = 12, ...settings } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => t.mock.timers.reset());
  const records: RequestRecord[] = [];
  const audit = new AuditLog(temporaryFolder(t), { flushMs: 3_600_000 });
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const keys = keysOf({ id: 'greedy' }, { id: 'other' });
  const server = await startTestServer(
    t,
    { maxWaitMs: 1, logLevel: 'info', ...settings },
    { keys, recorders: [recorder, audit] },
  );
  const held = holdAnalyses(server);
  const { port } = server;
  const admitted = [predict(port, body, { headers }), predict(port, body, { headers })];
  await held.running(2);
  const refused: Answer[] = [];
  for (let i = 0; i < usual; i++) refused.push(await predict(port, body, { headers }));
  for (const { status } of refused) assert.equal(status, 503);
  const endSecond = (): void => t.mock.timers.tick(1000);
  const finish = async (): Promise<void> => {
    held.finish();
    for (const { status } of await Promise.all(admitted)) assert.equal(status, 200);
  };
  return { server, port, held, records, audit, refused, endSecond, finish };
}

/** Sends only the head of a request of the flood. */
async function sendHead(port: number, extra: Record<string, string | number>, path?: string) {
  const client = await RawClient.connect(port);
  await client.write(predictHead({ ...headers, ...extra }, path));
  return client;
}

test('the short way gives the same answer as the usual one, but does not wait for the body', async (t) => {
  const { port, refused, finish } = await startFlood(t);
  const [first] = refused as [Answer];
  const last = await predict(port, body, { headers: { ...headers, 'x-correlation-id': ID } });
  const nameless = ({ headers: { date, 'x-correlation-id': _id, 'retry-after': _s, ...rest } }: Answer) =>
    rest;
  assert.equal(last.status, 503);
  assert.deepEqual(Object.keys(last.headers), Object.keys(first.headers));
  assert.deepEqual({ ...nameless(last), 'content-length': 0 }, { ...nameless(first), 'content-length': 0 });
  assert.equal(Number(last.headers['content-length']), last.text.length);
  assert.ok(Number(last.headers['retry-after']) >= 1);
  assert.equal(last.headers['x-correlation-id'], ID);
  assert.deepEqual({ ...last.json, message: '' }, { ...first.json, message: '', correlation_id: ID });
  const ids = new Set(refused.map(({ headers }) => headers['x-correlation-id']));
  assert.equal(ids.size, refused.length);

  const client = await sendHead(port, { 'content-length': 1000 });
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 503 (?![\s\S]*connection: close)/i);
  client.socket.destroy();
  await finish();
});

test('the rest of a refused body is discarded, and the connection serves the next request', async (t) => {
  const { port, server, finish } = await startFlood(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const sockets = new Set<unknown>();
  agent.on('free', (socket) => sockets.add(socket));
  for (let i = 0; i < 50; i++) assert.equal((await predict(port, body, { headers, agent })).status, 503);

  const inside = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n';
  const client = await sendHead(port, { 'content-length': 100_000 + inside.length });
  await client.until(/\}$/);
  for (let i = 0; i < 10; i++) await client.write('x'.repeat(10_000));
  client.received = '';
  await client.write(`${inside}GET /livez HTTP/1.1\r\nhost: a\r\n\r\n`);
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 200 /);
  assert.equal(client.received.match(/HTTP\/1\.1/g)?.length, 1);
  client.socket.destroy();
  assert.ok(server.arena.usedBytes <= 2 * (body.length + 4096));

  await finish();
  // The same second, with room again.
  assert.equal((await predict(port, body, { headers, agent })).status, 200);
  assert.equal(sockets.size, 1);
});

test('what needs care with its connection, and what is not of the flood, takes the usual way', async (t) => {
  const { port, finish } = await startFlood(t);
  const head = `POST /v1/predict HTTP/1.1\r\nhost: a\r\nx-api-key: ${headers['x-api-key']}\r\n`;
  const closing = /^HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*\}\r\n$/i;
  for (const extra of [{ 'content-length': 300_000 }, { 'transfer-encoding': 'chunked' }]) {
    const client = await sendHead(port, extra);
    await client.until(closing);
    client.socket.destroy();
  }
  const leaving = await sendHead(port, { 'content-length': body.length, connection: 'close' });
  await leaving.write(body);
  assert.match(await leaving.until(/\}$/), /^HTTP\/1\.1 503 /);
  await leaving.closed;
  const unclear = await RawClient.connect(port);
  await unclear.write(`${head}content-length: 10\r\ncontent-length: 20\r\n\r\n`);
  assert.match(await unclear.until(/\} *\s*$/), /^HTTP\/1\.1 400 [\s\S]*FRAMING_UNCLEAR/);
  await unclear.closed;
  const other = await sendHead(port, { 'content-length': 0 }, '/v1/nowhere');
  assert.match(await other.until(/\}$/), /^HTTP\/1\.1 404 /);
  other.socket.destroy();
  for (const [method, status] of [
    ['GET', 405],
    ['PUT', 405],
  ] as const) {
    const client = await RawClient.connect(port);
    await client.write(`${head.replace('POST', method)}content-length: 0\r\n\r\n`);
    assert.match(await client.until(/\}$/), new RegExp(`^HTTP/1\\.1 ${status} `));
    client.socket.destroy();
  }
  assert.equal((await predict(port, body, { headers: withKey('unknown') })).status, 401);
  // A key with nothing in the queue.
  const admitted = predict(port, body, { headers: withKey('other') });
  await finish();
  assert.equal((await admitted).status, 200);
});

test('a chunked body that goes on after its refusal takes no memory', async (t) => {
  const { port, server, finish } = await startFlood(t);
  const usedBytes = server.arena.usedBytes;
  const client = await sendHead(port, { 'transfer-encoding': 'chunked' });
  await client.until(/\}\r\n$/);
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20), Buffer.from('\r\n')]);
  for (let i = 0; i < 8; i++) await client.write(chunk);
  assert.equal(server.arena.usedBytes, usedBytes);
  await client.write('0\r\n\r\n');
  await client.closed;
  assert.equal(client.received.match(/HTTP\/1\.1/g)?.length, 1);
  await finish();
});

test('all of them are counted when the second ends, and have no lines of their own', async (t) => {
  const { server, port, records, audit, endSecond, finish } = await startFlood(t, { usual: 10 });
  for (let i = 0; i < 70; i++) assert.equal((await predict(port, body, { headers })).status, 503);
  const ofRoute = 'veravox_http_requests_total{route="/v1/predict",status="503"}';
  assert.equal(await server.metric(ofRoute), 10);
  endSecond();
  assert.equal(await server.metric(ofRoute), 80);
  assert.equal(await server.metric('veravox_errors_total{key="OVERLOADED"}'), 80);
  assert.equal(await server.metric('veravox_http_request_seconds_count{route="/v1/predict"}'), 80);
  assert.equal(await server.metric('veravox_log_lines_left_out_total'), 70);
  const lines = server.log.filter(({ msg, errorKey }) => msg === 'request' && errorKey === 'OVERLOADED');
  assert.equal(lines.length, 10);
  const sums = server.log.filter(({ msg }) => msg === 'refused requests without a line of their own');
  assert.deepEqual(
    sums.map((line) => line.lines),
    [70],
  );
  const sum = records.at(-1);
  assert.deepEqual([sum?.keyId, sum?.account, sum?.route, sum?.times], ['greedy', 'one', '/v1/predict', 70]);
  await audit.flush();
  // In the next second its requests have lines again.
  assert.equal((await predict(port, body, { headers })).status, 503);
  assert.equal(await server.metric(ofRoute), 81);
  assert.equal(records.at(-1)?.times, undefined);
  await finish();
});

test('those of an unfinished second are counted when the server stops', async (t) => {
  const { server, port, records, finish } = await startFlood(t);
  for (let i = 0; i < 5; i++) await predict(port, body, { headers });
  await finish();
  t.mock.timers.reset();
  await server.server.stop();
  assert.equal(
    records.reduce((sum, { times = 1, status }) => sum + (status === 503 ? times : 0), 0),
    17,
  );
});

test('a client that pipelines too many of them loses its connection', async (t) => {
  const { port, server, finish } = await startFlood(t);
  const client = await RawClient.connect(port);
  const one = Buffer.concat([
    Buffer.from(predictHead({ ...headers, 'content-length': 10 })),
    Buffer.alloc(10),
  ]);
  const many = Buffer.concat(Array.from({ length: 2000 }, () => one));
  await client.write(many);
  await client.closed;
  const answers = client.received.match(/HTTP\/1\.1 503/g)?.length ?? 0;
  assert.ok(answers <= 128, `${answers}`);
  assert.equal(await server.metric('veravox_held_answer_bytes'), 0);
  await finish();
});
