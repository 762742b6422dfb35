// SPDX-License-Identifier: Apache-2.0
//
// Holders of memory or permits that others want lose them if they do not use them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { UploadArena } from '../../../src/analysis/memory/arena.js';
import { dueBytes, type ReceivedBody, ReceivingPace } from '../../../src/api/admission/receiving-pace.js';
import { ArenaQueue } from '../../../src/api/upload/arena-queue.js';
import { type FillingRegion, slowest } from '../../../src/api/upload/filling-region.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predict, predictHead, RawClient } from '../../support/http-client.js';
import { API_KEY, OTHER_API_KEY, startTestServer, type TestServer } from '../../support/test-server.js';

const MEBIBYTE = 1 << 20;

/** An upload of 5 MB that stops as soon as it has its memory. */
async function stalledUpload(t: TestContext, server: TestServer, apiKey: string): Promise<RawClient> {
  const client = await RawClient.connect(server.port);
  t.after(() => client.socket.destroy());
  await client.write(predictHead({ 'x-api-key': apiKey, 'content-length': 5_000_000 }));
  await client.write(formBody([fileEntry(noise(20_000))]).subarray(0, 17_000));
  return client;
}

const withKey = (apiKey: string) => ({ headers: { 'x-api-key': apiKey } });

test('uploads that stop do not keep memory from another key, or from their own, for long', async (t) => {
  const limits = { maxInflightBytes: 32 * MEBIBYTE, keyMemoryPercent: 80 };
  const server = await startTestServer(t, limits);
  const clients: RawClient[] = [];
  for (let i = 0; i < 12; i++) clients.push(await stalledUpload(t, server, API_KEY));
  await eventually(async () => (await server.metric('veravox_uploads_waiting')) > 0, 'memory is used up');
  assert.ok(server.arena.usedBytes <= 0.8 * server.arena.totalBytes);

  // Another key's memory is available at once: nothing is cut for it.
  const file = formBody([fileEntry(noise(2_000_000))]);
  assert.equal((await predict(server.port, file, withKey(OTHER_API_KEY))).status, 200);
  // The same key must wait until they are cut, since all of them waited for memory before it.
  const own = predict(server.port, file, withKey(API_KEY));
  await eventually(() => clients.some(({ received }) => received.startsWith('HTTP/1.1 408 ')), 'one is cut');
  assert.equal((await own).status, 200);
  const answers = clients.map(({ received }) => received).filter((received) => received !== '');
  for (const answer of answers) {
    assert.match(
      answer,
      /^HTTP\/1\.1 408 [\s\S]*arrived too slowly while other requests were waiting: 17000 bytes in \d+ s/,
    );
  }
  assert.ok((await server.metric('veravox_errors_total{key="RECEIVE_TOO_SLOW"}')) >= 1);
  for (const { socket } of clients) socket.destroy();
});

test('a body that trickles is cut once permits are scarce, and not before', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 4 });
  const trickle = async (): Promise<RawClient> => {
    const client = await RawClient.connect(server.port);
    await client.write(predictHead({ 'content-length': 5_000_000 }));
    const timer = setInterval(() => void client.write('x'), 100);
    t.after(() => {
      clearInterval(timer);
      client.socket.destroy();
    });
    return client;
  };
  const startedMs = performance.now();
  const first = await trickle();
  await eventually(
    () => performance.now() - startedMs > 4000,
    'longer than an unwanted body would be left alone',
  );
  assert.equal(first.received, '');
  const others = await Promise.all([trickle(), trickle()]);
  const answer = await first.until(/\}\r\n$/);
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.match(answer, /"error":"timeout"/);
  // With one gone, permits are plentiful again.
  assert.deepEqual([...new Set(others.map(({ received }) => received))], ['']);
  await eventually(
    async () => (await server.metric('veravox_requests_in_flight')) === 2,
    'its permit is free again',
  );
  for (const { socket } of others) socket.destroy();
});

/** A body that only records what it was told. */
function someBody(receivingMs: number, receivedBytes: number, isContended: boolean) {
  const reasons: unknown[] = [];
  const body = {
    receivingMs,
    receivedBytes,
    permit: { isContended: () => isContended },
    cutBody: (reason: unknown) => reasons.push(reason),
    reasons,
  };
  return body satisfies ReceivedBody;
}

test('the rate that is asked of a body grows with the time that it holds its permit', () => {
  assert.equal(dueBytes(1999), 0);
  assert.equal(dueBytes(2000), 1600);
  assert.equal(dueBytes(10_000), 40_000);
  assert.equal(dueBytes(60_000), 60 * 16_384);
  for (let second = 2; second < 100; second++) {
    const rate = dueBytes(second * 1000) / second;
    assert.ok(dueBytes((second + 1) * 1000) / (second + 1) >= rate);
  }
  const slowLine = 100_000 / 8;
  for (let second = 1; second < 25; second++) assert.ok(dueBytes(second * 1000) < slowLine * second);
});

test('only bodies that are late, or have stopped, and hold what others want are cut', () => {
  const pace = new ReceivingPace();
  const bodies = {
    young: someBody(1900, 0, true),
    late: someBody(5000, 9000, true),
    unwanted: someBody(5000, 9000, false),
    inTime: someBody(5000, 11_000, true),
    stopped: someBody(5000, 1_000_000, true),
    notAwaited: someBody(0, 10, true),
  };
  pace.look(Object.values(bodies));
  bodies.inTime.receivedBytes += 20_000;
  bodies.inTime.receivingMs += 2000;
  bodies.stopped.receivingMs += 2000;
  bodies.notAwaited.receivedBytes += 1;
  pace.look(Object.values(bodies));
  const cut = Object.entries(bodies).filter(([, { reasons }]) => reasons.length > 0);
  assert.deepEqual(
    cut.map(([name]) => name),
    ['late', 'stopped'],
  );
});

test('a body is cut for a pause of 2 s, in which the server would have read, and not for a shorter one', () => {
  const pace = new ReceivingPace();
  const body = someBody(5000, 1_000_000, true);
  const lookAfter = (ms: number): number => {
    body.receivingMs += ms;
    pace.look([body]);
    return body.reasons.length;
  };
  const lookUnread = (): void => {
    const { receivingMs } = body;
    body.receivingMs = 0;
    pace.look([body]);
    body.receivingMs = receivingMs;
  };
  lookAfter(0);
  assert.equal(lookAfter(1000), 0);
  body.receivedBytes++;
  assert.equal(lookAfter(1000), 0);
  assert.equal(lookAfter(1000), 0);
  body.receivedBytes++;
  for (let seconds = 0; seconds < 5; seconds++) lookUnread();
  // Resumed just before a look.
  assert.equal(lookAfter(10), 0);
  assert.equal(lookAfter(1000), 0);
  lookUnread();
  assert.equal(lookAfter(900), 0);
  assert.equal(lookAfter(100), 1);
});

const region = (bytes: number, receivedBytes: number, sinceMs = 0): FillingRegion => ({
  holder: {},
  bytes,
  receivedBytes,
  sinceMs,
  cut: () => {},
});

test('memory is taken from the uploads that would hold it longest, and from no more than it takes', () => {
  const stalled = region(5_000_000, 17_000);
  const slow = region(5_000_000, 50_000);
  const fast = region(5_000_000, 2_000_000);
  const fresh = region(5_000_000, 16_384, 9500);
  const regions = [fast, slow, fresh, stalled];
  assert.deepEqual(slowest(regions, 1000, 10_000), [stalled]);
  assert.deepEqual(slowest(regions, 6_000_000, 10_000), [stalled, slow]);
  assert.deepEqual(slowest(regions, 60_000_000, 10_000), [stalled, slow, fast]);
  assert.deepEqual(slowest([fast, fresh], 60_000_000, 3000), []);
});

test('keys take turns for room, and one that has its share does not stand in the way of others', () => {
  const arena = new UploadArena(10 * 4096);
  const queue = new ArenaQueue(arena, { maxWaiting: 20, timeoutMs: 60_000, percents: { key: 50 } });
  const a = { key: 'a' };
  const b = { key: 'b' };
  const page = 4096;
  const served: string[] = [];
  const regions = Array.from({ length: 5 }, () => queue.reserve(page, a) ?? assert.fail());
  assert.equal(queue.reserve(page, a), undefined);
  const leave: (() => void)[] = [];
  const wait = (name: string, holder: { key: string }): void => {
    leave.push(
      queue.wait(
        page,
        () => served.push(name),
        () => assert.fail(),
        holder,
      ),
    );
  };
  for (let i = 0; i < 4; i++) wait(`a${i}`, a);
  const other = queue.reserve(5 * page, b) ?? assert.fail('the rest is for others, even if some wait');
  wait('b0', b);
  wait('b1', b);
  queue.release(other);
  assert.deepEqual(served, ['b0', 'b1']);
  for (const held of regions) queue.release(held);
  assert.deepEqual(served, ['b0', 'b1', 'a0', 'a1', 'a2', 'a3']);
  assert.equal(queue.waiting, 0);
  for (const leaving of leave) leaving();
});

test('a full queue for room has places for keys that do not stand in it', () => {
  const queue = new ArenaQueue(new UploadArena(4096), { maxWaiting: 8, timeoutMs: 60_000 });
  assert.ok(queue.reserve(4096, { key: 'a' }));
  const wait = (key: string) =>
    queue.wait(
      4096,
      () => {},
      () => {},
      { key },
    );
  const leaving = Array.from({ length: 6 }, () => wait('a'));
  assert.throws(() => wait('a'), { key: 'OVERLOADED' });
  leaving.push(wait('b'), wait('c'));
  assert.throws(() => wait('d'), { key: 'OVERLOADED' });
  for (const leave of leaving) leave();
});
