// SPDX-License-Identifier: Apache-2.0
//
// uWebSockets.js calls back for each chunk of a body, and reads on without giving way while the sender keeps up with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen } from '../../../src/api/http/listener.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { predictHead, RawClient } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const strangerHead = 'POST /nowhere HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';

function chunked(body: Uint8Array, chunkBytes: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

for (const [sender, head] of [
  ['a stranger', strangerHead],
  ['a key', predictHead({ 'transfer-encoding': 'chunked' })],
] as const) {
  test(`a body of ${sender} in chunks of one byte ends its connection`, async (t) => {
    const { port, metric } = await startTestServer(t);
    const client = await RawClient.connect(port);
    t.after(() => client.socket.destroy());
    await client.write(head + '1\r\nx\r\n'.repeat(20_000));
    const closed = 'veravox_connections_closed_total{reason="small_chunks"}';
    await eventually(async () => (await metric(closed)) === 1, 'the connection is closed');
    await client.closed;
  });
}

test('a form in chunks of 100 bytes is accepted, and 1000 chunks of any size', async (t) => {
  const { port } = await startTestServer(t);
  for (const body of [
    chunked(formBody([fileEntry(noise(1_000_000))]), 100),
    chunked(formBody([fileEntry(noise(700))]), 1),
  ]) {
    const client = await RawClient.connect(port);
    t.after(() => client.socket.destroy());
    await client.write(predictHead({ 'transfer-encoding': 'chunked' }));
    await client.write(body);
    await client.until(/^HTTP\/1\.1 200 /);
  }
});

test('no chunk comes after its connection was closed, though it was read together with the others', async (t) => {
  let chunks = 0;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handle(res) {
      res.onAborted(() => {});
      res.onData(() => {
        chunks++;
        if (chunks === 10) res.close();
      });
    },
  });
  t.after(() => listener.close());
  const client = await RawClient.connect(listener.port);
  await client.write(strangerHead + '1\r\nx\r\n'.repeat(1000));
  await client.closed;
  assert.equal(chunks, 10);
});
