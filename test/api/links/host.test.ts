// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchPolicy } from '../../../src/api/fetch/fetch-policy.js';
import { parseAllowedHost } from '../../../src/base/config/allowed-host.js';
import { ConfigError, loadConfig } from '../../../src/base/config/load-config.js';
import { startTrap } from '../../support/fake-storage.js';
import { allowedHosts, TestFetcher } from '../../support/test-fetcher.js';

const policy = (hosts: readonly string[], origins: readonly string[] = []): FetchPolicy =>
  new FetchPolicy(() => origins, allowedHosts(hosts));

function assertRefused(allowed: FetchPolicy, link: string, key = 'FETCH_HOST_REFUSED'): void {
  assert.throws(() => allowed.judge(link), { key, status: 400, code: 'validation_error' }, link);
}

test('every spelling of a loopback address is refused, and no connection is made to it', async (t) => {
  const trap = await startTrap(t);
  const fetcher = new TestFetcher({
    allowedHosts: ['http://files.example.com', 'http://localhost.example.com'],
  });
  const hosts = [
    ...[
      '127.0.0.1',
      'localhost',
      'LOCALHOST',
      'localhost.',
      '127.0.0.1.',
      '127.1',
      '127.0.1',
      '0',
      '0.0.0.0',
    ],
    ...['2130706433', '017700000001', '0x7f000001', '0x7f.1', '0177.0.0.1', '127.0.0.01', '%31%32%37.0.0.1'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]'],
    ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]'],
  ];
  for (const host of hosts) {
    const link = `http://${host}:${trap.port}/file`;
    await assert.rejects(fetcher.fetch(link), { key: 'FETCH_HOST_REFUSED', status: 400 }, link);
  }
  assert.deepEqual(fetcher.resolved, []);
  assert.equal(await trap.connections(), 0);
  assert.equal(fetcher.arena.usedBytes, 0);
});

test('what is no plain http or https link is refused without being shown', () => {
  const links = [
    ...[
      '',
      ' ',
      'file',
      '/etc/passwd',
      '//files.example.com/a',
      'http:files.example.com',
      'https:/files.example.com',
    ],
    ...[
      'file:///etc/passwd',
      'ftp://files.example.com/',
      'data:,a',
      'gopher://files.example.com',
      'blob:https://files.example.com/',
    ],
    ...[
      'https://',
      'https://files.example.com:65536/',
      'https://files.example.com:-1/',
      'https://files.example.com:x/',
    ],
    ...[
      'https://[fe80::1%25eth0]/',
      'https://[::1',
      'https://1.2.3.4.5/',
      'https://256.0.0.1/',
      'https://exa mple.com',
    ],
    ...[
      ' https://files.example.com/',
      'https://files.example.com/\n',
      'https://files.exa\tmple.com/',
      'https://files.example.com\\@x/',
    ],
    ...[
      'https:\\\\files.example.com/',
      'https://ｆiles.example.com/',
      'https://files.example.com/ü',
      'https://①②⑦.0.0.1/',
    ],
    ...[
      'https://user@files.example.com/',
      'https://user:secret@files.example.com/',
      'https://:secret@files.example.com/',
    ],
    `https://files.example.com/?X-Amz-Signature=secret${'a'.repeat(8192)}`,
  ];
  const allowed = policy(['files.example.com']);
  for (const link of links) {
    assertRefused(allowed, link, 'FIELD_INVALID');
    assert.throws(
      () => allowed.judge(link),
      ({ message }: Error) =>
        /^Expected an http or https link .* for presigned_url but received /.test(message) &&
        !message.includes('secret'),
    );
  }
});

test('a link of 8 KiB is taken, one byte more is not', () => {
  const allowed = policy(['files.example.com']);
  const link = 'https://files.example.com/'.padEnd(8192, 'a');
  assert.equal(allowed.judge(link).url.href, link);
  assertRefused(allowed, `${link}a`, 'FIELD_INVALID');
});

test('by default nothing but the configured storage is allowed', () => {
  const { fetchAllowedHosts } = loadConfig({});
  const allowed = new FetchPolicy(
    () => ['http://127.0.0.1:9000', 'https://S3.example.com:443'],
    fetchAllowedHosts,
  );
  assert.equal(allowed.judge('http://127.0.0.1:9000/bucket/key?X-Amz-Signature=1').isStorage, true);
  assert.equal(allowed.judge('https://s3.example.com/key').isStorage, true);
  for (const link of [
    'http://127.0.0.1:9001/bucket/key',
    'https://127.0.0.1:9000/bucket/key',
    'http://127.0.0.1/',
    'http://s3.example.com/key',
    'https://s3.example.com.evil.test/',
    'https://a.s3.example.com/',
    'https://s3.example.com./',
  ]) {
    assertRefused(allowed, link);
  }
});

test('an allowed host is that scheme, host and port; a wildcard is what lies below it', () => {
  const allowed = policy([
    'a.example.com',
    'http://b.example.com:8080',
    '*.c.example.com:444',
    'HTTPS://D.Example.com:443',
  ]);
  for (const link of [
    'https://a.example.com/x',
    'https://A.EXAMPLE.COM:443/x',
    'http://b.example.com:8080/x',
    'https://x.c.example.com:444/',
    'https://y.x.c.example.com:444/',
    'https://d.example.com/',
  ]) {
    assert.equal(allowed.judge(link).isStorage, false, link);
  }
  for (const link of [
    'http://a.example.com/x',
    'https://a.example.com:8443/',
    'https://a.example.com./',
    'https://x.a.example.com/',
    'https://aXexample.com/',
    'https://example.com/',
    'https://a.example.com.evil.test/',
    'https://evil.test/a.example.com',
    'https://evil.test/?a.example.com',
    'https://evil.test/#a.example.com',
    'https://b.example.com:8080/',
    'http://b.example.com/',
    'https://c.example.com:444/',
    'https://xc.example.com:444/',
    'https://.c.example.com:444/',
    'https://x.c.example.com/',
    'http://d.example.com/',
  ]) {
    assertRefused(allowed, link);
  }
});

test('the refusal names the origin and never the query', () => {
  assert.throws(() => policy([]).judge('https://evil.test:8443/path?X-Amz-Signature=abc#fragment'), {
    message:
      'Expected a link to the configured storage or an allowed host for presigned_url but received one to https://evil.test:8443.',
  });
});

test('entries that are no host are refused at start', () => {
  const entries = [
    ...[
      '10.0.0.1',
      '*.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '::1',
      '*',
      '*.',
      '*.com',
      'a.*.com',
      'x*.example.com',
    ],
    ...[
      'a..b',
      '.example.com',
      'example.com.',
      'ftp://example.com',
      'example.com/path',
      'example.com:',
      'example.com:65536',
    ],
    ...['user@example.com', 'https://', 'exämple.com', '-a.example.com', 'a b.example.com'],
  ];
  for (const entry of entries) {
    assert.equal(parseAllowedHost(entry), undefined, entry);
    assert.throws(
      () => loadConfig({ VERAVOX_FETCH_ALLOWED_HOSTS: `ok.example.com,${entry}` }),
      (error) =>
        error instanceof ConfigError && /for VERAVOX_FETCH_ALLOWED_HOSTS but received/.test(error.message),
    );
  }
  const { fetchAllowedHosts } = loadConfig({
    VERAVOX_FETCH_ALLOWED_HOSTS: ' a.example.com , http://localhost:9000,,',
  });
  assert.deepEqual(
    fetchAllowedHosts.map(({ protocol, host, port }) => [protocol, host, port]),
    [
      ['https:', 'a.example.com', ''],
      ['http:', 'localhost', '9000'],
    ],
  );
});
