// SPDX-License-Identifier: Apache-2.0
import { parentPort, threadId } from 'node:worker_threads';

/** Sent once by every thread of a pool, when it has loaded its code. */
export interface ThreadLoaded {
  readonly loadedThread: number;
}

/** Call it at the end of the module that Piscina loads. See LoadedThreads. */
export function tellLoaded<More extends object>(more?: More): void {
  // A module cannot see the end of its own loading. Microtasks wait for it.
  queueMicrotask(() => parentPort?.postMessage({ loadedThread: threadId, ...more }));
}
