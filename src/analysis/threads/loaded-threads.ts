// SPDX-License-Identifier: Apache-2.0
import type { Worker } from 'node:worker_threads';
import type { ThreadLoaded } from './thread-loaded.js';

/** A pool of Piscina. */
interface Pool {
  readonly threads: readonly Worker[];
  destroy(): Promise<void>;
}

/**
 * Ends the threads of a pool, but none before it has loaded its code: Piscina loads it by `require`, and if a thread ends while
 * Node.js makes an ES module into the result of `require`, an assertion fails and aborts the whole process.
 */
export class LoadedThreads {
  readonly #ids = new Set<number>();

  note({ loadedThread }: ThreadLoaded): void {
    this.#ids.add(loadedThread);
  }

  async end(pool: Pool): Promise<void> {
    for (;;) {
      const loading = pool.threads.find(({ threadId }) => !this.#ids.has(threadId));
      if (loading === undefined) break;
      // Otherwise a process with nothing else to do would end here.
      loading.ref();
      await new Promise((resolve) => loading.once('message', resolve).once('exit', resolve));
    }
    // Its `close` would keep everything that the pool refers to for 30 s.
    await pool.destroy();
  }
}
