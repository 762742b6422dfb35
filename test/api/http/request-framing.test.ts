// SPDX-License-Identifier: Apache-2.0
//
// Requests whose end two readers may see in different places. Bytes after such a request are never taken for another
// one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawClient } from '../../support/http-client.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const start = `POST /v1/file HTTP/1.1\r\nhost: a\r\nx-api-key: ${API_KEY}\r\ncontent-type: application/json\r\n`;
const smuggled = 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n';

/** Headers, body and the answer's message about them. */
const unclear: [name: string, headers: string, body: string, problem: RegExp][] = [
  ['two lengths', 'content-length: 2\r\ncontent-length: 40\r\n', '{}', /more than one content-length/],
  [
    'the same length twice',
    'content-length: 2\r\ncontent-length: 2\r\n',
    '{}',
    /more than one content-length/,
  ],
  ['no length', 'content-length:\r\n', '', /content-length is not a number/],
  [
    'two codings',
    'transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n',
    '0\r\n\r\n',
    /more than one transfer-encoding/,
  ],
  [
    'another coding',
    'transfer-encoding: gzip, chunked\r\n',
    '0\r\n\r\n',
    /its transfer-encoding is not chunked/,
  ],
  ['no coding', 'transfer-encoding: identity\r\n', '', /its transfer-encoding is not chunked/],
];

for (const [name, headers, body, problem] of unclear) {
  test(`${name}: 400 in the form of every error, and the connection ends`, async (t) => {
    const { port, metric } = await startTestServer(t);
    const whole = `${start}${headers}\r\n${body}${smuggled}`;
    for (const parts of [[whole], [whole.slice(0, 30), whole.slice(30)]]) {
      const client = await RawClient.connect(port);
      for (const part of parts) await client.write(part);
      await client.closed;
      assert.deepEqual(client.received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400'], client.received);
      const [head = '', json = ''] = client.received.split('\r\n\r\n');
      assert.match(head, /\r\nconnection: close\r\n/);
      const id = /\r\nx-correlation-id: (\S+)\r\n/.exec(head)?.[1] ?? '';
      assert.match(id, UUID);
      const error = JSON.parse(json);
      assert.match(error.message, problem);
      assert.deepEqual(error, {
        error: 'validation_error',
        message: error.message,
        status: 400,
        correlation_id: id,
      });
      assert.equal(Buffer.byteLength(json), Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1]));
    }
    assert.equal(await metric('veravox_connections_closed_total{reason="framing"}'), 2);
    assert.equal(await metric('veravox_errors_total{key="FRAMING_UNCLEAR"}'), 2);
    // The bytes behind it were not a request.
    assert.equal(await metric('veravox_http_requests_total{route="/livez",status="200"}'), 0);
  });
}

test('two hosts are refused, and nothing behind them is read', async (t) => {
  const { port, metric } = await startTestServer(t);
  const client = await RawClient.connect(port);
  await client.write(`${start}host: b\r\ncontent-length: 2\r\n\r\n{}${smuggled}`);
  await client.closed;
  assert.deepEqual(client.received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400']);
  assert.equal(await metric('veravox_http_requests_total{route="/livez",status="200"}'), 0);
});

test('a length with both a coding, spelt in any way, is refused, and nothing behind it is read', async (t) => {
  const { port, metric } = await startTestServer(t);
  for (const coding of ['chunked', 'identity', 'xchunked', 'Chunked']) {
    const client = await RawClient.connect(port);
    await client.write(
      `${start}content-length: 5\r\ntransfer-encoding: ${coding}\r\n\r\n0\r\n\r\n${smuggled}`,
    );
    await client.closed;
    assert.deepEqual(client.received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400']);
  }
  assert.equal(await metric('veravox_http_requests_total{route="/livez",status="200"}'), 0);
});

test('one length and one coding are read as ever', async (t) => {
  const { port } = await startTestServer(t);
  for (const [headers, body] of [
    ['content-length: 2\r\n', '{}'],
    ['content-length: 002\r\n', '{}'],
    ['transfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'],
    ['transfer-encoding: CHUNKED\r\n', '2\r\n{}\r\n0\r\n\r\n'],
  ]) {
    const client = await RawClient.connect(port);
    await client.write(`${start}${headers}\r\n${body}`);
    await client.until(/"status":400/);
    assert.match(client.received, /"message":"Expected /);
    client.socket.destroy();
  }
});
