// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from '../../../src/api/fetch/public-address.js';

/** First and last address of each forbidden range. */
const special: Record<string, readonly string[]> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  'private (10/8)': ['10.0.0.0', '10.255.255.255'],
  CGNAT: ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::', 'fe80::1%lo', 'febf:ffff::1'],
  'private (172.16/12)': ['172.16.0.0', '172.31.255.255'],
  'protocol assignments': ['192.0.0.0', '192.0.0.192', '192.0.0.255', '2001::1', '2001:1ff:ffff::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1'],
  'private (192.168/16)': ['192.168.0.0', '192.168.255.255'],
  benchmarks: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff:ffff::1'],
  'reserved and broadcast': ['240.0.0.0', '255.255.255.255', '4000::1', '1fff:ffff::1', '100::1', '5f00::1'],
  'a cloud’s own': ['168.63.129.16', 'fd00:ec2::254'],
  'unique local': ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site-local': ['fec0::1'],
  unspecified: ['::'],
  'IPv4-mapped': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:a00:1',
    '::ffff:0:7f00:1',
  ],
  'IPv4-compatible': ['::127.0.0.1', '::8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'no address': [
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '8.8.8.8.',
    ' 8.8.8.8',
    '[2a00::1]',
    '8.8.8.8/32',
  ],
};

for (const [name, addresses] of Object.entries(special)) {
  test(`${name}: not public`, () => {
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
  });
}

test('what lies just outside of those ranges is public', () => {
  const addresses = [
    ...[
      '1.0.0.0',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
    ],
    ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
    ...['172.32.0.0', '192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
    ...['203.0.112.255', '203.0.114.0', '223.255.255.255', '2001:200::1', '2001:4860:4860::8888'],
    ...['2001:db7:ffff::1', '2001:db9::1', '2003::1', '2606:4700::1111', '2a00:1450::1', '3ffe:ffff::1'],
  ];
  for (const address of addresses) assert.equal(isPublicAddress(address), true, address);
});
