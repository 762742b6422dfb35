// SPDX-License-Identifier: Apache-2.0
//
// Calls that are over stay for followers. Clients make as many as they like, so all that stays must count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { MemoryBudget } from '../../../src/api/admission/memory-budget.js';
import { nobody } from '../../../src/api/admission/shared-budget.js';
import { CallConnection, type CallHost } from '../../../src/api/streams/call-connection.js';
import { Calls } from '../../../src/api/streams/call-log.js';
import { type ConnectionPlace, StreamConnection } from '../../../src/api/streams/stream-connection.js';
import { ConnectionMemory } from '../../../src/api/streams/stream-memory.js';

const CALLS = 500;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

/** Apart from the test, whose variables its methods would keep. */
const placeIn = (budget: MemoryBudget): ConnectionPlace => ({
  memory: new ConnectionMemory(budget, nobody),
  leave() {},
  release() {},
});

test('a client that pings and reads no answers does not keep more than its connection counts', () => {
  const budget = new MemoryBudget(2 ** 30);
  const host: CallHost = {
    correlationId: '',
    isStrict: false,
    ignored: [],
    sessions: { heard() {}, connected() {}, disconnected() {} },
    idleTimeoutS: 60,
    start: () => assert.fail('Nothing is said.'),
    endedWithoutStream() {},
    add: () => () => {},
  };
  const ends: string[] = [];
  const socket = {
    send() {},
    unreadBytes: 64 * 1024,
    end: (_: number, reason: string) => void ends.push(reason),
    cut: () => void ends.push('cut'),
  };
  const stream = new StreamConnection({ ...host, resume: () => assert.fail() }, placeIn(budget), undefined);
  const call = new CallConnection(host, placeIn(budget));
  for (const connection of [stream, call]) {
    connection.opened(socket);
    connection.pinged();
  }
  const countedBytes = budget.usedBytes;
  socket.unreadBytes += 10_000;
  stream.pinged();
  assert.equal(budget.usedBytes, countedBytes + 10_000);
  call.pinged();
  assert.deepEqual(ends, ['cut']);
  socket.unreadBytes = 300 * 1024;
  stream.pinged();
  assert.deepEqual(ends, ['cut', 'cut']);
});

test('an ended call takes no more memory than it counts', () => {
  const budget = new MemoryBudget(2 ** 30);
  const calls = new Calls();
  const host: CallHost = {
    correlationId: '',
    isStrict: false,
    ignored: [],
    sessions: { heard() {}, connected() {}, disconnected() {} },
    idleTimeoutS: 60,
    start: () => assert.fail('There is no audio.'),
    endedWithoutStream() {},
    add: (ids, log) => calls.add('one', ids, log),
  };
  const call = (number: number): void => {
    const connection = new CallConnection(host, placeIn(budget));
    const say = (message: object): void => connection.message(Buffer.from(JSON.stringify(message)), false);
    connection.opened({ send() {}, unreadBytes: 0, end() {}, cut() {} });
    say({
      event: 'start',
      streamSid: `${number}`.padStart(256, 'a'),
      start: {
        callSid: `${number}`.padStart(256, 'b'),
        customParameters: { note: `${number}`.padStart(15_000, 'c') },
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
      },
    });
    say({ event: 'stop' });
    connection.closed();
  };
  call(0);
  collectGarbage();
  const heapBytes = process.memoryUsage().heapUsed;
  const countedBytes = budget.usedBytes;
  for (let number = 1; number <= CALLS; number++) call(number);
  collectGarbage();
  const takenBytes = process.memoryUsage().heapUsed - heapBytes;
  assert.ok(calls.find('one', `${CALLS}`.padStart(256, 'a')).isOver);
  assert.ok(
    takenBytes <= budget.usedBytes - countedBytes,
    `${takenBytes / CALLS} bytes per call, of which ${(budget.usedBytes - countedBytes) / CALLS} count`,
  );
});
