// SPDX-License-Identifier: Apache-2.0
//
// Private hosts, reachable only if the operator has opened them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptableAddresses } from '../../../src/api/fetch/acceptable-addresses.js';
import { linkPolicy } from '../../../src/api/fetch/fetch-policy.js';
import { isPublicAddress } from '../../../src/api/fetch/public-address.js';
import { ConfigError, loadConfig } from '../../../src/base/config/load-config.js';
import { parsePrivateHost } from '../../../src/base/config/private-host.js';
import type { ServiceError } from '../../../src/base/errors/service-error.js';
import { startFakeStorage, startTrap } from '../../support/fake-storage.js';
import { startJobServer } from '../../support/job-server.js';

const never = new AbortController().signal;

/** 'allowed', or the error with which a link is refused. @param resolved the addresses of all names */
async function outcomeOf(
  link: string,
  settings: Record<string, string>,
  resolved: readonly string[] = [],
): Promise<string> {
  const policy = linkPolicy(loadConfig(settings), () => []);
  const addresses = resolved.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  try {
    const target = policy.judge(link);
    const around = { resolve: async () => addresses, isPublicAddress };
    await acceptableAddresses(target, around, never, () => {});
    return 'allowed';
  } catch (error) {
    return (error as ServiceError).key;
  }
}

const opened = (hosts: string, allowed = ''): Record<string, string> => ({
  VERAVOX_FETCH_PRIVATE_HOSTS: hosts,
  VERAVOX_FETCH_ALLOWED_HOSTS: allowed,
});

test('what is not opened stays closed', async () => {
  for (const link of ['http://127.0.0.1/', 'http://[::1]/', 'http://10.0.0.1:9000/', 'http://localhost/']) {
    assert.equal(await outcomeOf(link, {}, ['127.0.0.1']), 'FETCH_HOST_REFUSED', link);
    assert.equal(
      await outcomeOf(link, opened('192.168.7.0/24,box.lan'), ['127.0.0.1']),
      'FETCH_HOST_REFUSED',
    );
  }
});

test('a range opens links with an address in it, in each spelling, and on its port only', async () => {
  const cases: readonly [entry: string, link: string, outcome: string][] = [
    ['127.0.0.1', 'http://127.0.0.1:9000/a', 'allowed'],
    ['127.0.0.1', 'https://127.0.0.1/a', 'allowed'],
    ['127.0.0.1', 'http://0x7f000001/a', 'allowed'],
    ['127.0.0.1', 'http://127.0.0.2/a', 'FETCH_HOST_REFUSED'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/a', 'FETCH_HOST_REFUSED'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/a', 'allowed'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9001/a', 'FETCH_HOST_REFUSED'],
    ['127.0.0.1:80', 'http://127.0.0.1/a', 'allowed'],
    ['127.0.0.1:443', 'https://127.0.0.1/a', 'allowed'],
    ['10.20.0.0/16', 'http://10.20.255.1/a', 'allowed'],
    ['10.20.0.0/16', 'http://10.21.0.1/a', 'FETCH_HOST_REFUSED'],
    ['10.20.0.0/16:8080', 'http://10.20.0.1:8080/a', 'allowed'],
    ['::1', 'http://[::1]:9000/a', 'allowed'],
    ['[::1]:9000', 'http://[::1]:9000/a', 'allowed'],
    ['[::1]:9000', 'http://[::1]/a', 'FETCH_HOST_REFUSED'],
    ['fd12::/16', 'http://[fd12:1::1]/a', 'allowed'],
    ['[fd12::/16]:81', 'http://[fd12:1::1]:81/a', 'allowed'],
  ];
  for (const [entry, link, outcome] of cases) {
    assert.equal(await outcomeOf(link, opened(entry)), outcome, `${entry} ${link}`);
  }
});

test('a name opens itself if all of its addresses are private', async () => {
  const cases: readonly [entry: string, link: string, resolved: string[], outcome: string][] = [
    ['files.lan', 'http://files.lan:9000/a', ['10.0.0.1', 'fd00::1'], 'allowed'],
    ['files.lan:9000', 'http://files.lan:9000/a', ['100.64.0.1'], 'allowed'],
    ['files.lan:9000', 'http://files.lan/a', ['10.0.0.1'], 'FETCH_HOST_REFUSED'],
    ['localhost', 'http://localhost:9000/a', ['::1', '127.0.0.1'], 'allowed'],
    ['*.lan', 'http://a.b.lan/a', ['192.168.0.1'], 'allowed'],
    ['*.lan', 'http://lan/a', ['192.168.0.1'], 'FETCH_HOST_REFUSED'],
    ['*.lan', 'http://evil.test/a', ['192.168.0.1'], 'FETCH_HOST_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['10.0.0.1', '8.8.8.8'], 'FETCH_ADDRESS_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['8.8.8.8'], 'FETCH_ADDRESS_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['0.0.0.0'], 'FETCH_ADDRESS_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['224.0.0.1'], 'FETCH_ADDRESS_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['::ffff:10.0.0.1'], 'FETCH_ADDRESS_REFUSED'],
    ['files.lan', 'http://files.lan/a', ['64:ff9b::a00:1'], 'FETCH_ADDRESS_REFUSED'],
  ];
  for (const [entry, link, resolved, outcome] of cases) {
    assert.equal(await outcomeOf(link, opened(entry), resolved), outcome, `${entry} ${link} ${resolved}`);
  }
});

test('a range opens addresses of hosts in the other list, which may have public ones as well', async () => {
  const settings = opened('10.0.0.0/8', 'split.example');
  assert.equal(await outcomeOf('https://split.example/a', settings, ['10.0.0.1', '8.8.8.8']), 'allowed');
  assert.equal(
    await outcomeOf('https://split.example/a', settings, ['192.168.0.1']),
    'FETCH_ADDRESS_REFUSED',
  );
  assert.equal(await outcomeOf('http://split.example/a', settings, ['10.0.0.1']), 'FETCH_HOST_REFUSED');
});

test('addresses with the keys of machines open only by themselves', async () => {
  const keys = [
    '169.254.169.254',
    '169.254.170.2',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd00:42::42',
    'fe80::1',
    '100.100.100.200',
    '168.63.129.16',
  ];
  const wide = '0.0.0.0/0,::/0,169.254.0.0/16,fd00::/8,fe80::/10,100.64.0.0/10';
  for (const address of keys) {
    const link = `http://${address.includes(':') ? `[${address}]` : address}/latest/meta-data`;
    assert.equal(await outcomeOf(link, opened(wide)), 'FETCH_HOST_REFUSED', address);
    assert.equal(
      await outcomeOf('http://files.lan/', opened(`${wide},files.lan`), [address]),
      'FETCH_ADDRESS_REFUSED',
      address,
    );
    assert.equal(await outcomeOf(link, opened(address)), 'allowed', address);
  }
  for (const link of ['http://0.0.0.0/', 'http://[::]/', 'http://224.0.0.1/', 'http://255.255.255.255/']) {
    assert.equal(await outcomeOf(link, opened(wide)), 'FETCH_HOST_REFUSED', link);
  }
});

test('an entry that is none is named', () => {
  for (const entry of [
    'http://127.0.0.1:9000',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '10.0.0.0/33',
    '::1:9000x',
    '[127.0.0.1]:80',
    '127.1',
    '0x7f000001',
    '2130706433',
    '*',
    '*.',
    'a b',
    'files.lan/path',
    'user@files.lan',
    '::ffff:10.0.0.1',
  ]) {
    assert.equal(parsePrivateHost(entry), undefined, entry);
    assert.throws(
      () => loadConfig({ VERAVOX_WEBHOOK_PRIVATE_HOSTS: `localhost, ${entry},10.0.0.0/8` }),
      (error) =>
        error instanceof ConfigError &&
        error.message.endsWith(`but received ${entry} (entry 2 of 3).`) &&
        /address\[\/bits\]\[:port\]/.test(error.message),
      entry,
    );
  }
  assert.throws(
    () => loadConfig({ VERAVOX_WEBHOOK_HOSTS: 'hooks.example.com,http://127.0.0.1:19319' }),
    /names only \(addresses: VERAVOX_WEBHOOK_PRIVATE_HOSTS\).* but received http:\/\/127\.0\.0\.1:19319 \(entry 2 of 2\)\.$/,
  );
});

test('what can never be reached is refused with the request, and nothing is sent to it', async (t) => {
  const trap = await startTrap(t);
  const name = `http://localhost:${trap.port}`;
  const settings = loadConfig({ VERAVOX_WEBHOOK_HOSTS: name, VERAVOX_FETCH_ALLOWED_HOSTS: name });
  const { webhookHosts, fetchAllowedHosts } = settings;
  const server = await startJobServer(t, { webhookHosts, fetchAllowedHosts });
  await server.jobParts.jobs.webhookSecrets.create('one', 60_000);
  const asked: readonly [path: string, body: object, key: string][] = [
    ['/v1/jobs', { key: 'a', callback_url: `${name}/` }, 'WEBHOOK_ADDRESS_REFUSED'],
    ['/v1/jobs', { presigned_url: `${name}/a` }, 'FETCH_ADDRESS_REFUSED'],
    ['/v1/jobs', { task: 'enroll', presigned_url: `${name}/a` }, 'FETCH_ADDRESS_REFUSED'],
    ['/v1/batches', { lines: 'key\na\n', callback_url: `${name}/` }, 'WEBHOOK_ADDRESS_REFUSED'],
    ['/v1/batches', { presigned_url: `${name}/a` }, 'FETCH_ADDRESS_REFUSED'],
    ['/v1/predict', { presigned_url: `${name}/a` }, 'FETCH_ADDRESS_REFUSED'],
  ];
  for (const [path, body, key] of asked) {
    const { status, headers, json } = await server.call('POST', path, body);
    assert.deepEqual([status, headers['x-error-key']], [400, key], `${path} ${JSON.stringify(body)}`);
    assert.match(json.message, /localhost/);
    assert.match(json.message, /VERAVOX_(FETCH|WEBHOOK)_PRIVATE_HOSTS/);
  }
  assert.equal(await trap.connections(), 0);
});

test('a recording on a private host is fetched from where it was opened', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end('any bytes'));
  const { fetchPrivateHosts } = loadConfig({ VERAVOX_FETCH_PRIVATE_HOSTS: `127.0.0.1:${storage.port}` });
  const server = await startJobServer(t, { fetchPrivateHosts });
  const { status } = await server.call('POST', '/v1/predict', { presigned_url: `${storage.origin}/a.wav` });
  assert.equal(status, 200);
  assert.equal(storage.requests.length, 1);
});
