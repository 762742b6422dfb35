// SPDX-License-Identifier: Apache-2.0
//
// A server in a separate process, so that its memory can be told from the test's. Its analyses never end. Sends its port and
// routes through the channel of `fork`, ends with it, and returns freed memory on each message.
import type { TestContext } from 'node:test';
import type { Route } from '../../src/api/routes/route.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { addUser } from './admin.js';
import { startJobServer } from './job-server.js';

const MEBIBYTE = 1 << 20;
/** Streams without a connection end soon. */
const CLOCK_SPEED = 50;

export const memoryConfig = {
  maxInflightBytes: 48 * MEBIBYTE,
  maxAnswerBytes: 4 * MEBIBYTE,
  maxPredictBytes: 4 * MEBIBYTE,
  // Here only memory limits them.
  maxStreams: 1000,
  maxTransfers: 64,
  streamBufferS: 90,
  streamIdleTimeoutS: 3600,
  maxStreamDurationS: 86_400,
  keySharePercent: 80,
  keyMemoryPercent: 80,
  addressSharePercent: 90,
} as const;

/** Possible client input for a route, according to the contract. */
export interface InputRoute extends Pick<Route, 'method' | 'path' | 'isPrefix' | 'isSocket' | 'isAdmin'> {
  /** The field of the file, and its largest size. */
  readonly file: { readonly field: string; readonly maxBytes: number } | undefined;
}

export interface MemoryServer {
  readonly port: number;
  readonly routes: readonly InputRoute[];
}

const facts = ({ method, path, isPrefix, isSocket, isAdmin, operation }: Route): InputRoute => ({
  method,
  path,
  file: operation.form && { field: operation.form.file.field, maxBytes: operation.form.file.maxBytes },
  ...(isPrefix && { isPrefix }),
  ...(isSocket && { isSocket }),
  ...(isAdmin && { isAdmin }),
});

async function serve(): Promise<void> {
  const afterwards: (() => unknown)[] = [];
  const context = { after: (step: () => unknown) => void afterwards.unshift(step) };
  const parts = { streamClockMs: () => CLOCK_SPEED * performance.now() };
  const started = await startJobServer(context as TestContext, memoryConfig, parts);
  const { port, server, database, arena, analyser } = started;
  await addUser(database, 'admin');
  process.send?.({ port, routes: server.routes.map(facts) } satisfies MemoryServer);
  process.on('message', async () => {
    // Keeps its input.
    analyser.liveStreams.length = 0;
    global.gc?.();
    arena.trim();
    await loadAddon().trimHeap();
    process.send?.('given back');
  });
  process.once('disconnect', async () => {
    for (const step of afterwards) await step();
    process.exit();
  });
}

if (process.send !== undefined) await serve();
