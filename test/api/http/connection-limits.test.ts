// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { Connections } from '../../../src/api/http/connections.js';
import { countPeers, peerOf } from '../../../src/api/http/peer-connections.js';
import { eventually } from '../../support/eventually.js';
import { RawClient, request } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

function connectFrom(t: TestContext, port: number, localAddress: string): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return socket;
}

const isAnswered = async (socket: net.Socket): Promise<boolean> => {
  const answered = once(socket, 'data').then(
    () => true,
    () => false,
  );
  const closed = new Promise<false>((resolve) => {
    socket.once('close', () => resolve(false));
  });
  socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  return Promise.race([answered, closed]);
};

test('one connection more than are allowed is closed and counted; when one ends, there is room again', async (t) => {
  const { port, metric } = await startTestServer(t, { maxConnections: 3 });
  const clients: RawClient[] = [];
  for (let i = 0; i < 3; i++) clients.push(await RawClient.connect(port));
  for (const client of clients) {
    await client.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    await client.until(/\}$/);
  }
  const refused = connectFrom(t, port, '127.0.0.1');
  assert.equal(await isAnswered(refused), false);
  clients.pop()?.socket.destroy();
  const series = 'veravox_connections_closed_total{reason="connections"}';
  let counted = 0;
  await eventually(async () => {
    counted = await metric(series).catch(() => 0);
    return counted > 0;
  }, 'There is room again');
  assert.ok(counted >= 1);
  for (const client of clients) client.socket.destroy();
});

test('one address cannot have all connections; others are served, also after its connections have ended', async (t) => {
  const { port, metric } = await startTestServer(t, { maxConnectionsPerAddress: 4 });
  const many = Array.from({ length: 8 }, () => connectFrom(t, port, '127.0.0.2'));
  const answered = await Promise.all(many.map(isAnswered));
  assert.equal(answered.filter(Boolean).length, 4);
  assert.equal((await request(port, '/livez')).status, 200);
  assert.equal(await metric('veravox_connections_closed_total{reason="address"}'), 4);
  for (const socket of many) socket.destroy();
  await eventually(() => isAnswered(connectFrom(t, port, '127.0.0.2')), 'The address is let in again');
});

test('a trusted proxy has connections as it needs', async (t) => {
  const trusted = { family: 'ipv4', address: '127.0.0.2', prefixBits: 32 } as const;
  const { port } = await startTestServer(t, { maxConnectionsPerAddress: 2, trustedProxies: [trusted] });
  const many = Array.from({ length: 6 }, () => connectFrom(t, port, '127.0.0.2'));
  assert.deepEqual(await Promise.all(many.map(isAnswered)), Array(6).fill(true));
});

test('an IPv6 network counts as one, an IPv4 address as itself, however it is written', () => {
  const v6 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
  assert.equal(
    peerOf(v6('20010db8000000010000000000000001')),
    peerOf(v6('20010db800000001ffff000000000002')),
  );
  assert.notEqual(
    peerOf(v6('20010db8000000010000000000000001')),
    peerOf(v6('20010db8000000020000000000000001')),
  );
  assert.equal(peerOf(v6('00000000000000000000ffff7f000002')), peerOf(Uint8Array.from([127, 0, 0, 2])));
});

test("the system's table is read: only open connections to this port, by peer", () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1',
    '   1: 0100007F:1F90 0200007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 2 1',
    '   2: 0100007F:1F90 0200007F:C002 08 00000000:00000000 00:00000000 00000000     0        0 3 1',
    '   3: 0100007F:1F90 0200007F:C003 06 00000000:00000000 00:00000000 00000000     0        0 0 1',
    '   4: 0100007F:1F91 0200007F:C004 01 00000000:00000000 00:00000000 00000000     0        0 4 1',
    '   5: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000200007F:C005 01 0:0 0:0 0 0 0 5 1',
    '   6: B80D0120000000000000000001000000:1F90 B80D0120010000000000000002000000:C006 01 0:0 0:0 0 0 0 6 1',
  ].join('\n');
  const counts = countPeers(table, 8080);
  assert.equal(counts.get(peerOf(Uint8Array.from([127, 0, 0, 2]))), 3);
  assert.equal(counts.get('20010db800000001'), 1);
  assert.equal(counts.size, 2);
});

test('a count that takes long is made seldom', async () => {
  let nowMs = 0;
  let counts = 0;
  const connections = new Connections({
    max: 1000,
    maxPerAddress: 2,
    isExempt: () => false,
    countByPeer: async () => {
      counts++;
      nowMs += 1000;
      return new Map();
    },
    onClose: () => {},
    nowMs: () => nowMs,
  });
  for (let i = 0; i < 100; i++) {
    connections.admits(Uint8Array.from([10, 0, 0, 1]).buffer);
    nowMs += 100;
    await Promise.resolve();
    await Promise.resolve();
  }
  assert.ok(counts <= 3, `${counts} counts`);
});

test('connections that have ended are forgotten with the next count', async () => {
  let nowMs = 0;
  let counted = new Map<string, number>();
  const connections = new Connections({
    max: 1000,
    maxPerAddress: 10,
    isExempt: () => false,
    countByPeer: async () => counted,
    onClose: () => {},
    nowMs: () => nowMs,
  });
  const address = Uint8Array.from([10, 0, 0, 1]).buffer;
  // A client that opens and closes one connection after another is never refused, however fast it is.
  for (let i = 0; i < 1000; i++) {
    assert.ok(connections.admits(address), `connection ${i}`);
    connections.ended();
  }
  nowMs += 250;
  // A client that keeps its connections is.
  counted = new Map([[peerOf(new Uint8Array(address)), 10]]);
  nowMs += 250;
  let admitted = 0;
  for (let i = 0; i < 30; i++) {
    if (connections.admits(address)) admitted++;
    nowMs += 250;
    await Promise.resolve();
    await Promise.resolve();
  }
  assert.ok(admitted <= 10, `${admitted}`);
});
