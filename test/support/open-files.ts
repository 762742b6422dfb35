// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

/** Open files of a process, as Linux names them: paths, and `socket:[inode]` for sockets. */
export function openFilesOf(pid: number): string[] {
  return fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [fs.readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}
