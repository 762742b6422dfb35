// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

/** In /proc/net/tcp. */
const ESTABLISHED = '01';
const CLOSE_WAIT = '08';

/**
 * The open connections to a local port, by their peer address in hexadecimal. This asks the system because uWebSockets.js
 * reports that a connection ended, but not which one.
 * @returns undefined if the system does not tell
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

/** The kernel writes four-byte words in the machine's byte order, which is little-endian on all supported machines. */
function peerOfTable(words: string): string {
  const bytes = Buffer.from(words, 'hex');
  return peerOf(bytes.length % 4 === 0 ? bytes.swap32() : bytes);
}

/** The unit that limits apply to: an IPv4 address, or the first 64 bits of an IPv6 one, which one customer gets. */
export function peerOf(address: Uint8Array): string {
  const bytes = Buffer.from(address.buffer, address.byteOffset, address.byteLength);
  if (bytes.length !== 16) return bytes.toString('hex');
  const isMapped = bytes.readUInt32BE(8) === 0xffff && bytes.readBigUInt64BE(0) === 0n;
  return isMapped ? bytes.toString('hex', 12) : bytes.toString('hex', 0, 8);
}
