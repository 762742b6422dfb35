// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import { type TestContext, test } from 'node:test';
import { parseAddressRange } from '../../../src/base/config/address-range.js';
import { ConfigError, loadConfig } from '../../../src/base/config/load-config.js';
import type { RequestRecord } from '../../../src/base/observe/request-record.js';
import { startTestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

const PROXY_V2 = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** Starts a server that trusts `proxies`; the raw connections to it end with the answer. */
async function startServer(test: TestContext, proxies: string, host = '127.0.0.1') {
  const { trustedProxies } = loadConfig({ VERAVOX_TRUSTED_PROXIES: proxies });
  const records: RequestRecord[] = [];
  const recorder = {
    record: (record: RequestRecord) => void records.push({ ...record }),
    close: async () => {},
  };
  const { port, log } = await startTestServer(test, { trustedProxies, host }, { recorders: [recorder] });
  /** The logged address of a request from `localAddress` with these header lines. */
  async function ask(
    lines: readonly string[],
    localAddress = host,
    preface = Buffer.alloc(0),
  ): Promise<unknown> {
    const logged = log.length;
    const socket = net.connect({ port, host, localAddress });
    const head = ['GET /v1/file HTTP/1.1', `Host: ${host}`, ...lines, 'Connection: close', '', ''];
    socket.write(Buffer.concat([preface, Buffer.from(head.join('\r\n'))]));
    socket.resume();
    await once(socket, 'close');
    await until(() => log.length > logged);
    const address = log.at(-1)?.clientAddress;
    assert.equal(records.at(-1)?.clientAddress, address);
    return address;
  }
  return ask;
}

for (const range of [
  '',
  '10.0.0.1/33',
  '::1/129',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0',
  'proxy.example',
  'fe80::1%eth0',
  '::ffff:10.0.0.1',
]) {
  test(`${range === '' ? 'nothing' : range} is no range of addresses`, () => {
    assert.equal(parseAddressRange(range), undefined);
  });
}

test('a setting with one bad range is refused', () => {
  assert.throws(
    () => loadConfig({ VERAVOX_TRUSTED_PROXIES: '10.0.0.0/8, nginx' }),
    (error) => error instanceof ConfigError && /VERAVOX_TRUSTED_PROXIES/.test(error.message),
  );
});

test('nobody chooses an address for the log where no proxy is trusted', async (t) => {
  const ask = await startServer(t, '');
  assert.equal(await ask([]), '127.0.0.1');
  assert.equal(await ask([], '127.0.0.9'), '127.0.0.9');
  assert.equal(await ask(['X-Forwarded-For: 192.0.2.7']), '127.0.0.1');
});

test('a PROXY protocol header changes no address', async (t) => {
  const ask = await startServer(t, '127.0.0.1');
  const addresses = Buffer.from('2111000cc00002070a0000010400' + '1f90', 'hex');
  assert.equal(await ask([], '127.0.0.9', Buffer.concat([PROXY_V2, addresses])), '127.0.0.9');
});

test('a client that is no trusted proxy is not believed', async (t) => {
  const ask = await startServer(t, '127.0.0.1, 10.0.0.0/8');
  assert.equal(await ask(['X-Forwarded-For: 192.0.2.7'], '127.0.0.2'), '127.0.0.2');
});

test('behind trusted proxies the client is the last address that is not one of them', async (t) => {
  const ask = await startServer(t, '127.0.0.1, 10.1.2.3/8, 2001:db8::/32');
  assert.equal(await ask([]), '127.0.0.1');
  assert.equal(await ask(['X-Forwarded-For: 192.0.2.7']), '192.0.2.7');
  assert.equal(await ask(['X-Forwarded-For: 1.1.1.1, 192.0.2.7, 10.9.9.9']), '192.0.2.7');
  assert.equal(await ask(['X-Forwarded-For: 1.1.1.1,192.0.2.7,2001:DB8::5 , 10.9.9.9']), '192.0.2.7');
  // HAProxy appends its own header instead of adding an address to the existing one.
  assert.equal(await ask(['X-Forwarded-For: 1.1.1.1', 'x-forwarded-for: 192.0.2.7']), '192.0.2.7');
  assert.equal(await ask(['X-Forwarded-For: 10.0.0.2, 10.0.0.1']), '10.0.0.2');
});

test('addresses come in one spelling, without a port', async (t) => {
  const ask = await startServer(t, '127.0.0.1');
  for (const [written, read] of [
    ['192.0.2.7:4711', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
  ]) {
    assert.equal(await ask([`X-Forwarded-For: ${written}`]), read, written);
  }
});

test('what is no address stands for nobody, nor does what was sent before it', async (t) => {
  const ask = await startServer(t, '127.0.0.1, 10.0.0.0/8');
  for (const written of [
    'unknown',
    '',
    ',',
    '1.1.1.1, ',
    '_hidden',
    '999.1.1.1',
    '1.2.3.4:x',
    '[1.2.3.4]',
    '[::1',
    'a'.repeat(3000),
    ','.repeat(3000),
  ]) {
    assert.equal(await ask([`X-Forwarded-For: ${written}`]), '127.0.0.1', written.slice(0, 20));
  }
  assert.equal(await ask(['X-Forwarded-For: 1.1.1.1, unknown, 10.0.0.1']), '10.0.0.1');
});

const hasIPv6 = Object.values(os.networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

test('the address of a connection over IPv6 is its shortest spelling', { skip: !hasIPv6 }, async (t) => {
  const ask = await startServer(t, '', '::1');
  assert.equal(await ask([]), '::1');
});
