// SPDX-License-Identifier: Apache-2.0
import { BlockList, isIP } from 'node:net';
import type { AddressRange } from '../../base/config/address-range.js';
import { isPublicAddress } from './public-address.js';

type Subnet = readonly [network: string, prefixBits: number];

/** Networks of programs in the same house: private, shared (CGNAT) and loopback addresses. */
const inHouse: readonly Subnet[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
];

/** Addresses at which clouds hand out the keys of their machines, some inside the ranges above; and other link-local ones. */
const metadata: readonly Subnet[] = [
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['192.0.0.192', 32],
  ['fd00:42::42', 128],
  // Amazon has several, such as ::23 in its clusters.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fe80::', 10],
];

const families = { 4: 'ipv4', 6: 'ipv6' } as const;
type Family = (typeof families)[keyof typeof families];

function familyOf(address: string): Family | undefined {
  const version = isIP(address);
  // Zones exist on link-local addresses only.
  return address.includes('%') ? undefined : families[version as keyof typeof families];
}

/** A list per family: BlockList lets rules of one apply to mapped addresses of the other. */
function containing(subnets: readonly Subnet[]): (address: string, family: Family) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [network, prefixBits] of subnets) {
    const family = familyOf(network) ?? 'ipv4';
    lists[family].addSubnet(network, prefixBits, family);
  }
  return (address, family) => lists[family].check(address, family);
}

const isInRanges = containing(inHouse);
const isMetadata = containing(metadata);

/** Whether a host that an operator allows by its name may have this address, although it is not public. */
export function isHouseAddress(address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && isInRanges(address, family) && !isMetadata(address, family);
}

/** Whether a range that an operator allows opens this address. Addresses with keys of machines must be named by themselves. */
export function opens({ family, address: network, prefixBits }: AddressRange, address: string): boolean {
  if (familyOf(address) !== family) return false;
  if (!containing([[network, prefixBits]])(address, family)) return false;
  if (isMetadata(address, family)) return prefixBits === (family === 'ipv4' ? 32 : 128);
  return isPublicAddress(address) || isHouseAddress(address);
}
