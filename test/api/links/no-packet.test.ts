// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { isPublicAddress } from '../../../src/api/fetch/public-address.js';
import { startFakeStorage, startTrap } from '../../support/fake-storage.js';
import { answer, TestFetcher } from '../../support/test-fetcher.js';

const refused = { key: 'FETCH_ADDRESS_REFUSED', status: 400, code: 'validation_error' };

/**
 * Linux answers on all of 127.0.0.0/8: this address stands for a public one, since tests must not leave the machine.
 */
const STAND_IN = '127.0.0.2';
const isPublicOrStandIn = (address: string): boolean => address === STAND_IN || isPublicAddress(address);

async function hasIPv6Loopback(): Promise<boolean> {
  const server = net.createServer();
  const listening = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, '::1', () => resolve(true));
  });
  const has = await listening;
  if (has) server.close();
  return has;
}

test('an allowed host that resolves to this machine is not connected to, in any form of its address', async (t) => {
  const trap = await startTrap(t, { host: '0.0.0.0' });
  const forms = ['127.0.0.1', '127.255.255.254', '0.0.0.0', '::ffff:127.0.0.1', '::ffff:7f00:1', '::'];
  for (const address of forms) {
    const resolve = async () => answer(address);
    const fetcher = new TestFetcher({
      allowedHosts: [`http://files.example.com:${trap.port}`],
      surroundings: { resolve },
    });
    await assert.rejects(fetcher.fetch(`http://files.example.com:${trap.port}/file`), refused, address);
    assert.deepEqual(fetcher.resolved, ['files.example.com']);
    assert.equal(fetcher.arena.usedBytes, 0);
  }
  assert.equal(await trap.connections(), 0);
});

test('the same for the loopback of IPv6', {
  skip: !(await hasIPv6Loopback()) && 'no ::1 here',
}, async (t) => {
  const trap = await startTrap(t, { host: '::1' });
  const fetcher = new TestFetcher({
    allowedHosts: [`http://files.example.com:${trap.port}`],
    surroundings: { resolve: async () => answer('::1') },
  });
  await assert.rejects(fetcher.fetch(`http://files.example.com:${trap.port}/file`), refused);
  assert.equal(await trap.connections(), 0);
});

test('one special address among public ones refuses them all', async (t) => {
  const trap = await startTrap(t, { host: '0.0.0.0' });
  for (const addresses of [
    [STAND_IN, '127.0.0.1'],
    ['127.0.0.1', STAND_IN],
    ['2606:4700::1111', STAND_IN, '10.0.0.1'],
    [STAND_IN, 'fd00::1'],
    [STAND_IN, '169.254.169.254'],
  ]) {
    const fetcher = new TestFetcher({
      allowedHosts: [`http://files.example.com:${trap.port}`],
      surroundings: { resolve: async () => answer(...addresses), isPublicAddress: isPublicOrStandIn },
    });
    await assert.rejects(
      fetcher.fetch(`http://files.example.com:${trap.port}/file`),
      refused,
      `${addresses}`,
    );
  }
  assert.equal(await trap.connections(), 0);
});

test('the address that was judged is the one that is connected to, whatever the name says a moment later', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end('the file'), { host: STAND_IN });
  const trap = await startTrap(t, { host: '127.0.0.1', port: storage.port });
  const answers = [STAND_IN, '127.0.0.1', '127.0.0.1'];
  const fetcher = new TestFetcher({
    allowedHosts: [`http://rebinding.example.com:${storage.port}`],
    surroundings: { resolve: async () => answer(answers.shift() ?? ''), isPublicAddress: isPublicOrStandIn },
  });
  const link = `http://rebinding.example.com:${storage.port}/file`;
  assert.equal((await fetcher.bytesOf(link)).toString(), 'the file');
  assert.deepEqual(fetcher.resolved, ['rebinding.example.com'], 'it is resolved once');
  assert.equal(storage.requests[0]?.headers.host, `rebinding.example.com:${storage.port}`);
  await assert.rejects(fetcher.fetch(link), refused);
  assert.deepEqual(fetcher.resolved.length, 2, 'nothing is remembered, and no connection is used again');
  assert.equal(await trap.connections(), 0);
});

test('of several acceptable addresses one that answers is used', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end('the file'), { host: STAND_IN });
  const fetcher = new TestFetcher({
    allowedHosts: [`http://files.example.com:${storage.port}`],
    surroundings: {
      resolve: async () => answer('127.0.0.3', STAND_IN),
      isPublicAddress: (address) => /^127\.0\.0\.[23]$/.test(address),
    },
  });
  assert.equal(
    (await fetcher.bytesOf(`http://files.example.com:${storage.port}/file`)).toString(),
    'the file',
  );
});

test('no redirect is followed: not to this machine, not to another host, not to the same one', async (t) => {
  const trap = await startTrap(t);
  let location = '';
  let status = 0;
  const storage = await startFakeStorage(t, ({ url }, response) => {
    if (url === '/target') response.end('the file');
    else response.writeHead(status, { location }).end('gone there');
  });
  const fetcher = new TestFetcher({ storagePrefixes: [storage.origin], allowedHosts: ['files.example.com'] });
  for (status of [300, 301, 302, 303, 304, 307, 308]) {
    for (location of [trap.origin, 'https://files.example.com/', `${storage.origin}/target`, '/target']) {
      await assert.rejects(fetcher.fetch(`${storage.origin}/file?X-Amz-Signature=secret`), {
        key: 'FETCH_REDIRECTED',
        status: 400,
        message: `The storage answered the presigned_url with a redirect, status ${status}; redirects are not followed.`,
      });
    }
  }
  assert.ok(storage.requests.every(({ url }) => url !== '/target'));
  assert.deepEqual(fetcher.resolved, []);
  assert.equal(await trap.connections(), 0);
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('the configured storage may have a private address, by name and as an address', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end('the file'));
  const named = `http://minio.internal:${storage.port}`;
  const fetcher = new TestFetcher({
    storagePrefixes: [storage.origin, named],
    surroundings: { resolve: async () => answer('127.0.0.1') },
  });
  assert.equal((await fetcher.bytesOf(`${storage.origin}/file`)).toString(), 'the file');
  assert.deepEqual(fetcher.resolved, []);
  assert.equal((await fetcher.bytesOf(`${named}/file`)).toString(), 'the file');
  assert.deepEqual(fetcher.resolved, ['minio.internal']);
});

test('settings for proxies do not send a link to anybody else', async (t) => {
  const proxy = await startTrap(t);
  const storage = await startFakeStorage(t, (_, response) => response.end('the file'));
  const variables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'all_proxy', 'NODE_USE_ENV_PROXY'];
  const before = variables.map((name) => process.env[name]);
  t.after(() => {
    for (const [index, name] of variables.entries()) {
      if (before[index] === undefined) delete process.env[name];
      else process.env[name] = before[index];
    }
  });
  for (const name of variables) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.origin;
  const fetcher = new TestFetcher({ storagePrefixes: [storage.origin] });
  assert.equal((await fetcher.bytesOf(`${storage.origin}/file`)).toString(), 'the file');
  assert.equal(await proxy.connections(), 0);
});

test('a connection that the check of this file would notice is noticed', async (t) => {
  const trap = await startTrap(t);
  const socket = net.connect(trap.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  assert.equal(await trap.connections(), 1);
});
