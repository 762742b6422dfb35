// SPDX-License-Identifier: Apache-2.0
//
// What a flood of live audio takes of memory, and what is left of it a minute later, under several settings of the allocator; and
// what each reload of the models adds. The settings are those of the environment: GNU's malloc reads its own, and another allocator
// is preloaded. Runs one server after the other.
//
//   npm run bench:memory [-- --main OTHER/CHECKOUT/dist/cli/main.js --jemalloc /usr/lib/x86_64-linux-gnu/libjemalloc.so.2]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { packageDir } from '../src/base/config/package-dir.js';
import { StreamClient } from '../test/support/stream-client.js';
import { describeMachine } from './machine.js';
import { metric } from './process-watch.js';
import { type ServerProcess, startServer } from './server-process.js';

const { values } = parseArgs({
  options: {
    main: { type: 'string', default: join(packageDir, 'dist/cli/main.js') },
    jemalloc: { type: 'string', default: '' },
    streams: { type: 'string', default: '128' },
    reloads: { type: 'string', default: '20' },
  },
});
const RATE_HZ = 192_000;
const PIECE_BYTES = 128 * 1024;
/** Heaps grow with the first reloads. */
const FIRST_RELOADS = 2;
/** Longer than a lost stream waits for its client. */
const REST_MS = 60_000;

const fixed = { MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' };
const settings: readonly (readonly [name: string, env: Readonly<Record<string, string>>])[] = [
  ['as it is', {}],
  ['two heaps', { MALLOC_ARENA_MAX: '2' }],
  ['two heaps, fixed thresholds', { MALLOC_ARENA_MAX: '2', ...fixed }],
  ...(values.jemalloc === '' ? [] : [['jemalloc', { LD_PRELOAD: values.jemalloc }] as const]),
];

const memoryMiB = ({ pid }: ServerProcess, what: 'VmRSS' | 'VmHWM'): number =>
  Math.round(
    Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
      1024,
  );

/** As fast as it goes, until the server ends the stream. */
async function overfill({ port, apiKey }: ServerProcess): Promise<void> {
  const path = `/v1/stream?encoding=pcm16&sample_rate=${RATE_HZ}`;
  const client = await StreamClient.connect(port, { path, headers: { 'x-api-key': apiKey } });
  if (!(client instanceof StreamClient)) return;
  const noise = Buffer.from(Uint8Array.from({ length: PIECE_BYTES }, () => Math.random() * 256));
  while (!client.isClosed) {
    client.audio(noise);
    await new Promise(setImmediate);
  }
}

async function reload(server: ServerProcess, times: number): Promise<void> {
  const count = (): Promise<number> => metric(server.port, 'veravox_reload_total').then((value = 0) => value);
  for (let i = 0; i < times; i++) {
    const before = await count();
    process.kill(server.pid, 'SIGHUP');
    while ((await count()) === before || (await metric(server.port, 'veravox_model_sets')) !== 1)
      await delay(200);
  }
}

const rows = [];
for (const [allocator, env] of settings) {
  const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
  const server = await startServer(folder, env, { main: values.main });
  try {
    await overfill(server);
    await delay(REST_MS / 4);
    const idleMiB = memoryMiB(server, 'VmRSS');
    await Promise.all(Array.from({ length: Number(values.streams) }, () => overfill(server)));
    const peakMiB = memoryMiB(server, 'VmHWM');
    await delay(REST_MS);
    const afterMiB = memoryMiB(server, 'VmRSS');
    await reload(server, FIRST_RELOADS);
    await delay(REST_MS / 4);
    const firstMiB = memoryMiB(server, 'VmRSS');
    await reload(server, Number(values.reloads));
    await delay(REST_MS / 4);
    const perReloadMiB = (memoryMiB(server, 'VmRSS') - firstMiB) / Number(values.reloads);
    rows.push({ allocator, idleMiB, peakMiB, afterMiB, perReloadMiB: Math.round(perReloadMiB * 100) / 100 });
    console.log(JSON.stringify(rows.at(-1)));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
const result = { machine: describeMachine(), streams: Number(values.streams), rows };
writeFileSync(join(packageDir, 'bench/results/memory.json'), `${JSON.stringify(result, undefined, 2)}\n`);
