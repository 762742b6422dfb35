// SPDX-License-Identifier: Apache-2.0
//
// The client's live audio over the WebSocket of Node.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type LiveStream, type StreamEvent, VeravoxClient, VeravoxError } from '../../client/src/index.js';
import { breakingProxy } from '../support/breaking-proxy.js';
import { API_KEY, KEY_WITHOUT_SCOPE } from '../support/test-keys.js';
import { startTestServer } from '../support/test-server.js';
import { until } from '../support/until.js';

const pcm = { encoding: 'pcm16', sample_rate: 16_000 } as const;

async function start(t: TestContext) {
  const server = await startTestServer(t);
  const proxy = await breakingProxy(t, server.port);
  const client = new VeravoxClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: API_KEY });
  return { server, proxy, client };
}

test('a stream tells its windows and its result', async (t) => {
  const { server, client } = await start(t);
  const events: StreamEvent[] = [];
  const stream = await client.stream({ ...pcm, threshold: 0.4, onEvent: (event) => events.push(event) });
  assert.equal(stream.ready.threshold, 0.4);
  await stream.send(new Int16Array(16_000));
  await stream.send(new Uint8Array(320).buffer);
  const [double] = server.analyser.liveStreams;
  await until(() => double?.pieces.length === 2);
  double?.tellWindow(0, 0.9);
  await until(() => events.length === 1);
  const result = stream.end();
  await until(() => double?.isFinished === true);
  double?.tellEnd(5);
  assert.equal((await result).global.result, 'spoofed');
  assert.equal(events[0]?.type, 'window');
  await assert.rejects(stream.send(new Uint8Array(2)), TypeError);
});

test('a lost connection loses no audio and no window', async (t) => {
  const { server, proxy, client } = await start(t);
  const events: StreamEvent[] = [];
  const connections: boolean[] = [];
  let arrived = 0;
  const stream = await client.stream({
    ...pcm,
    onEvent: (event) => events.push(event),
    onConnection: (isConnected) => connections.push(isConnected),
    onReceived: ({ samples }) => {
      arrived = samples;
    },
  });
  const [double] = server.analyser.liveStreams;
  const bytesOf = (i: number) => Int16Array.from({ length: 1600 }, () => i);
  for (let i = 0; i < 5; i++) await stream.send(bytesOf(i));
  await until(() => double?.pieces.length === 5);
  double?.tellWindow(0, 0.9);
  await until(() => events.length === 1);
  proxy.breakAll();
  for (let i = 5; i < 10; i++) await stream.send(bytesOf(i));
  double?.tellWindow(1, 0.8);
  // Reported once per second of audio, and not again after a break.
  await until(() => double?.pieces.length === 10 && events.length === 2 && arrived === 16_000);
  proxy.breakAll();
  const result = stream.end();
  await until(() => double?.isFinished === true);
  double?.tellEnd(10);
  assert.equal((await result).events, 2);
  assert.deepEqual(connections, [false, true, false, true]);
  const received = Buffer.concat(double?.pieces ?? []);
  const sent = Buffer.concat(Array.from({ length: 10 }, (_, i) => Buffer.from(bytesOf(i).buffer)));
  assert.ok(received.equals(sent));
});

test('audio of any length is split into messages that the server takes', async (t) => {
  const { server, client } = await start(t);
  for (const [format, sampleBytes] of [
    [pcm, 2],
    [{ encoding: 'mulaw', sample_rate: 8000 }, 1],
    [{ encoding: 'pcm16', sample_rate: 192_000 }, 2],
  ] as const) {
    const stream = await client.stream(format);
    const double = server.analyser.liveStreams.at(-1);
    const pieces = double?.pieces ?? [];
    const audio = Buffer.from(Array.from({ length: 400_000 }, (_, i) => i % 251));
    const sending = stream.send(audio);
    await until(() => {
      if (double !== undefined) double.waitingS = 0;
      return pieces.reduce((sum, { length }) => sum + length, 0) === audio.length;
    });
    await sending;
    assert.ok(pieces.every(({ length }) => length <= 262_144 && length % sampleBytes === 0));
    assert.ok(audio.equals(Buffer.concat(pieces)));
  }
});

test('a packet of Opus above the limit is refused', async (t) => {
  const { client } = await start(t);
  const stream = await client.stream({ encoding: 'opus' });
  await assert.rejects(stream.send(new Uint8Array(262_145)), {
    code: 'payload_too_large',
    status: 413,
    errorKey: 'STREAM_MESSAGE_TOO_LARGE',
    message: 'The message exceeds the limit of 262144 bytes.',
  });
});

test('refusals are errors of the client', async (t) => {
  const { server, client } = await start(t);
  const wrong = client.stream({ ...pcm, sample_rate: 1 });
  await assert.rejects(wrong, (error) => error instanceof VeravoxError && error.errorKey === 'FIELD_INVALID');
  const stranger = new VeravoxClient({ baseUrl: server.origin, apiKey: KEY_WITHOUT_SCOPE });
  await assert.rejects(
    stranger.stream(pcm),
    (error) => error instanceof VeravoxError && error.status === 403,
  );
  const stream = await client.stream(pcm);
  await stream.send(new Uint8Array(3));
  await assert.rejects(
    stream.end(),
    (error) => error instanceof VeravoxError && error.errorKey === 'STREAM_MESSAGE_INVALID',
  );
});

test('the signal ends a stream', async (t) => {
  const { client } = await start(t);
  const stop = new AbortController();
  const stream = await client.stream({ ...pcm, signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(stream.end(), /enough/);
});

const SILENCE_MS = 32_000;
const OPENING_MS = 10_000;

/** Connections to a server that says what the test says. */
function scripted(t: TestContext, ticket = async () => 'ticket', resumeWithinS = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const connections: Scripted[] = [];
  class Scripted {
    binaryType = '';
    isClosed = false;
    readonly sent: unknown[] = [];
    #hear = (_event: { readonly data: unknown }): void => {};
    drop = (): void => {};
    constructor() {
      connections.push(this);
    }
    send(message: unknown): void {
      this.sent.push(message);
    }
    close(): void {
      this.isClosed = true;
    }
    addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
      if (type === 'message') this.#hear = listener;
      if (type === 'close') this.drop = () => listener({ data: undefined });
    }
    say(message: object): void {
      this.#hear({ data: JSON.stringify(message) });
    }
  }
  const client = new VeravoxClient({ baseUrl: 'http://127.0.0.1:1', apiKey: API_KEY });
  const connected: boolean[] = [];
  const opening = client.stream({
    ...pcm,
    WebSocket: Scripted,
    ticket,
    onConnection: (isConnected) => connected.push(isConnected),
  });
  /** The connection with this number, once it is made. */
  const nth = async (count: number): Promise<Scripted> => {
    await until(() => connections.length === count);
    return connections[count - 1] as Scripted;
  };
  const opened = async () => {
    const first = await nth(1);
    const limits = { resume_within_s: resumeWithinS, max_waiting_s: 30, max_message_bytes: 262_144 };
    first.say({ type: 'ready', session_id: 's', secret: 'x', sample_rate: 16_000, ...limits });
    return { first, stream: await opening };
  };
  return { opening, opened, nth, connected };
}

test('a server that says nothing ends the opening in time', async (t) => {
  const { opening, nth } = scripted(t);
  const refused = assert.rejects(opening, /could not be opened/);
  const first = await nth(1);
  t.mock.timers.tick(OPENING_MS);
  await refused;
  assert.ok(first.isClosed);
});

for (const [what, act] of [
  ['a second of audio', (stream: LiveStream) => stream.send(new Int16Array(16_000))],
  ['the end', (stream: LiveStream) => void stream.end().catch(() => {})],
] as const) {
  test(`a server that vanishes before it answers ${what} counts as lost, and ends the stream in time`, async (t) => {
    const { opened, nth, connected } = scripted(t);
    const { first, stream } = await opened();
    await act(stream);
    t.mock.timers.tick(SILENCE_MS - 1);
    assert.equal(first.isClosed, false);
    t.mock.timers.tick(1);
    assert.ok(first.isClosed);
    await until(() => connected.length === 1);
    t.mock.timers.tick(100);
    await nth(2);
    t.mock.timers.tick(OPENING_MS);
    await assert.rejects(stream.end(), {
      name: 'TypeError',
      message: 'The connection of the stream was lost.',
    });
    assert.deepEqual(connected, [false]);
  });
}

test('a server that owes no message may be silent', async (t) => {
  const { opened } = scripted(t);
  const { first, stream } = await opened();
  await stream.send(new Int16Array(15_999));
  t.mock.timers.tick(2 * SILENCE_MS);
  await stream.send(new Int16Array(1));
  t.mock.timers.tick(SILENCE_MS - 1);
  first.say({ type: 'window', event: 0 });
  t.mock.timers.tick(SILENCE_MS - 1);
  first.say({ type: 'received', samples: 16_000, messages: 2, waiting_s: 0 });
  t.mock.timers.tick(2 * SILENCE_MS);
  assert.equal(first.isClosed, false);
});

const received = (messages: number, waiting_s: number) => ({
  type: 'received',
  samples: 16_000 * messages,
  messages,
  waiting_s,
});

test('audio is held back while half of the time that may wait is used up, also when it is sent again', async (t) => {
  const { opened, nth, connected } = scripted(t, undefined, 30);
  const { first, stream } = await opened();
  const audio = ({ sent }: { readonly sent: readonly unknown[] }) =>
    sent.filter((message) => message instanceof Uint8Array).length;
  const sending = stream.send(new Int16Array(60 * 16_000));
  assert.equal(audio(first), 16);
  first.say(received(10, 0));
  assert.equal(audio(first), 26);
  first.say(received(26, 15.5));
  assert.equal(audio(first), 26);
  // Half a second of it should soon be analysed.
  await until(() => {
    t.mock.timers.tick(500);
    return audio(first) > 26;
  });
  first.say(received(30, 0));
  const arrived = 30 + 5;
  first.drop();
  await until(() => connected.length === 1);
  t.mock.timers.tick(100);
  const second = await nth(2);
  second.say({ ...received(arrived, 0), type: 'resumed' });
  // Five seconds may wait for analysis.
  assert.ok(audio(second) >= 11 && audio(second) <= 16, String(audio(second)));
  second.say(received(arrived + audio(second), 0));
  second.say(received(arrived + audio(second), 0));
  await sending;
  assert.equal(audio(second), 60 - arrived);
});

const full = {
  type: 'error',
  error: 'unavailable',
  key: 'OVERLOADED',
  message: 'Full.',
  status: 503,
  retry_after_s: 7,
  correlation_id: 'c',
};

test('a stream that the server ends because it is full fails with that reason', async (t) => {
  const { opened } = scripted(t, undefined, 30);
  const { first, stream } = await opened();
  first.say(full);
  await assert.rejects(stream.end(), { errorKey: 'OVERLOADED', status: 503, retryAfterS: 7 });
});

test('a server that is full for a connection is asked again for the stream', async (t) => {
  let asked = 0;
  const ticket = async () => `${++asked}`;
  const { opened, nth, connected } = scripted(t, ticket, 30);
  const tickUntilAsked = (count: number) =>
    until(() => {
      t.mock.timers.tick(100);
      return asked === count;
    });
  const { first } = await opened();
  first.drop();
  await tickUntilAsked(2);
  const second = await nth(2);
  second.say(full);
  second.drop();
  await tickUntilAsked(3);
  const third = await nth(3);
  third.say({ ...received(0, 0), type: 'resumed' });
  assert.deepEqual(connected, [false, true]);
});

test('a stream that is resumed again and again without progress is lost', async (t) => {
  const { opened, nth, connected } = scripted(t);
  const { first, stream } = await opened();
  await stream.send(new Int16Array(16_000));
  first.drop();
  await until(() => connected.length === 1);
  t.mock.timers.tick(100);
  const second = await nth(2);
  second.say({ ...received(0, 0), type: 'resumed' });
  second.drop();
  await assert.rejects(stream.end(), { message: 'The connection of the stream was lost.' });
  assert.deepEqual(connected, [false, true, false]);
});

const refusedTicket = (status: number) =>
  new VeravoxError('No.', {
    code: 'unexpected_answer',
    status,
    errorKey: undefined,
    correlationId: undefined,
    retryAfterS: undefined,
  });

for (const status of [429, 500, 503]) {
  test(`a stream goes on although a ticket was refused with ${status}`, async (t) => {
    let asked = 0;
    const ticket = async () => {
      if (++asked === 2) throw refusedTicket(status);
      return 'ticket';
    };
    const { opened, nth, connected } = scripted(t, ticket, 30);
    const { first, stream } = await opened();
    await stream.send(new Int16Array(100));
    first.drop();
    await until(() => {
      t.mock.timers.tick(100);
      return asked === 3;
    });
    const second = await nth(2);
    second.say({ ...received(0, 0), type: 'resumed' });
    assert.deepEqual(connected, [false, true]);
    assert.equal(second.sent.length, 1);
  });
}

test('a ticket that is refused to the client ends its stream', async (t) => {
  let asked = 0;
  const ticket = async () => {
    if (++asked === 2) throw refusedTicket(403);
    return 'ticket';
  };
  const { opened } = scripted(t, ticket, 30);
  const { first, stream } = await opened();
  first.drop();
  await until(() => {
    t.mock.timers.tick(100);
    return asked === 2;
  });
  await assert.rejects(stream.end(), { status: 403 });
});
