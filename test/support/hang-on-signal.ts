// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a program by `node --import`: SIGUSR2 blocks its event loop permanently, SIGWINCH lets debuggers
// connect.
import inspector from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    for (;;);
  });
  process.on('SIGWINCH', () => inspector.open(0));
}
