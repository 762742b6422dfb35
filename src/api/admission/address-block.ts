// SPDX-License-Identifier: Apache-2.0

/** The addresses that one client can choose from: an IPv4 address, or the 64 bits of an IPv6 address that name its network. */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
  }
  return groups.slice(0, 4).join(':');
}
