// SPDX-License-Identifier: Apache-2.0
import { BlockList, isIPv4, isIPv6 } from 'node:net';

type Subnet = readonly [network: string, prefixBits: number];

/** Addresses that the IANA registry of special-purpose IPv4 addresses does not call globally reachable, and similar ones. */
const specialIPv4: readonly Subnet[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers (CGNAT), and one cloud's metadata service
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a public address that Azure answers inside its virtual machines
  ['169.254.0.0', 16], // link-local, and most clouds' metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
];

/** Global unicast. Addresses that embed an IPv4 address (mapped, compatible, NAT64) lie outside of it. */
const globalIPv6: Subnet = ['2000::', 3];
const specialIPv6: readonly Subnet[] = [
  ['2001::', 23], // protocol assignments; holds Teredo, which embeds an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which embeds an IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

function listOf(subnets: readonly Subnet[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefixBits] of subnets) list.addSubnet(network, prefixBits, family);
  return list;
}

// One list per family: BlockList lets rules of one apply to mapped addresses of the other.
const closedIPv4 = listOf(specialIPv4, 'ipv4');
const openIPv6 = listOf([globalIPv6], 'ipv6');
const closedIPv6 = listOf(specialIPv6, 'ipv6');

/** Whether an address, as a resolver gives it, belongs to the public internet; false if it is not an address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closedIPv4.check(address, 'ipv4');
  // isIPv6 takes zones, which only link-local addresses have.
  if (!isIPv6(address) || address.includes('%')) return false;
  return openIPv6.check(address, 'ipv6') && !closedIPv6.check(address, 'ipv6');
}
