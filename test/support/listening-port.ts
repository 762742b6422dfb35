// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { eventually } from './eventually.js';
import { openFilesOf } from './open-files.js';

const LISTENING = '0A';

/** The port that a process listens on, according to the kernel: for servers whose output nobody can read. */
export async function listeningPortOf(pid: number): Promise<number> {
  let port: number | undefined;
  await eventually(() => {
    const sockets = new Set(openFilesOf(pid));
    for (const line of fs.readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/ +/);
      if (state === LISTENING && sockets.has(`socket:[${inode}]`))
        port = Number.parseInt(local.split(':')[1] ?? '', 16);
    }
    return port !== undefined;
  }, `process ${pid} listens`);
  return port as number;
}
