// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { isatty } from 'node:tty';

const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;

/**
 * A non-blocking descriptor of standard output: a thread blocked in a write could not be ended, and would keep the process
 * from ending.
 */
export function openStandardOutput(): number {
  // Opening the stream makes pipes and sockets non-blocking; it is not used otherwise, as its queue has no bounds.
  if (!isatty(1)) {
    process.stdout.on('error', () => {});
    return 1;
  }
  // A terminal stopped by Ctrl-S blocks as well. It is opened again because the flag belongs to the open file, which the
  // shell shares. Another user's terminal can only be opened by its common name.
  for (const terminal of ['/proc/self/fd/1', '/dev/tty']) {
    try {
      return fs.openSync(terminal, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    } catch {}
  }
  return 1;
}
