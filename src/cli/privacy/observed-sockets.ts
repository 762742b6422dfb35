// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

const tables = ['tcp', 'tcp6', 'udp', 'udp6'] as const;
const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/** The internet sockets of a process apart from its own port, as the kernel lists them now. */
export function socketsBeyond(pid: number, ownPort: number | undefined): string[] {
  const inodes = new Set(
    linksIn(`/proc/${pid}/fd`).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  );
  return tables.flatMap((table) =>
    linesOf(`/proc/${pid}/net/${table}`).flatMap((line) => {
      const [, local = '', remote = '', state = '', , , , , , inode = ''] = line.trim().split(/ +/);
      const isListening = table.startsWith('tcp') && state === '0A';
      const isOwn = ownPort !== undefined && local.endsWith(`:${hexPort(ownPort)}`);
      return !inodes.has(inode) || isListening || isOwn ? [] : [`${table} ${local} to ${remote}`];
    }),
  );
}

function linksIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder).flatMap((name) => {
      try {
        return [fs.readlinkSync(`${folder}/${name}`)];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // ended meanwhile
  }
}

function linesOf(file: string): string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}
