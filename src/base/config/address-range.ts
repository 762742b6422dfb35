// SPDX-License-Identifier: Apache-2.0
import { isIPv4, isIPv6 } from 'node:net';

/** All addresses that begin with the same `prefixBits` bits as `address`. */
export interface AddressRange {
  readonly family: 'ipv4' | 'ipv6';
  readonly address: string;
  readonly prefixBits: number;
}

/** `address` or `address/bits`; undefined for anything else. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  // Client addresses never appear as IPv4-mapped IPv6, so a range of those would match none.
  if (rest.length > 0 || address.includes('%') || /^::ffff:/i.test(address)) return undefined;
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
  if (family === undefined) return undefined;
  const maxBits = family === 'ipv4' ? 32 : 128;
  if (bits === undefined) return { family, address, prefixBits: maxBits };
  const prefixBits = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return prefixBits <= maxBits ? { family, address, prefixBits } : undefined;
}
