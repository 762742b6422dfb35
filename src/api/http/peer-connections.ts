// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

/** Of /proc/net/tcp. */
const ESTABLISHED = '01';
const CLOSE_WAIT = '08';

/**
 * The open connections to a local port, by the address at their other end in hexadecimal. The system is asked because
 * uWebSockets.js tells that a connection has ended, but not which.
 * @returns undefined where the system does not tell
 */
export async function connectionsByPeer(localPort: number): Promise<Map<string, number> | undefined> {
  try {
    const tables = await Promise.all(
      ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => fs.promises.readFile(file, 'latin1')),
    );
    return countPeers(tables.join('\n'), localPort);
  } catch {
    return undefined;
  }
}

export function countPeers(table: string, localPort: number): Map<string, number> {
  const counts = new Map<string, number>();
  const port = localPort.toString(16).toUpperCase().padStart(4, '0');
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', state] = line.trimStart().split(/ +/, 4);
    if (!local.endsWith(`:${port}`) || (state !== ESTABLISHED && state !== CLOSE_WAIT)) continue;
    const peer = peerOfTable(remote.slice(0, remote.indexOf(':')));
    counts.set(peer, (counts.get(peer) ?? 0) + 1);
  }
  return counts;
}

/** The kernel writes words of four bytes in the order of the machine, which is little-endian wherever this runs. */
function peerOfTable(words: string): string {
  const bytes = Buffer.from(words, 'hex');
  return peerOf(bytes.length % 4 === 0 ? bytes.swap32() : bytes);
}

/** Who an address counts for: an IPv4 address, or the first 64 bits of an IPv6 one, which go to one customer. */
export function peerOf(address: Uint8Array): string {
  const bytes = Buffer.from(address.buffer, address.byteOffset, address.byteLength);
  if (bytes.length !== 16) return bytes.toString('hex');
  const isMapped = bytes.readUInt32BE(8) === 0xffff && bytes.readBigUInt64BE(0) === 0n;
  return isMapped ? bytes.toString('hex', 12) : bytes.toString('hex', 0, 8);
}
