// SPDX-License-Identifier: Apache-2.0
//
// Memory that a flood of live audio takes, and the part that remains a minute later; and the growth per reload of the models.
//
//   npm run bench memory [-- --before OTHER/CHECKOUT/dist/cli/main.js]
//
// The server of another checkout runs at the same time: both are idle most of the time.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { packageDir } from '../src/base/config/package-dir.js';
import { StreamClient } from '../test/support/stream-client.js';
import { describeMachine } from './support/machine.js';
import { metric } from './support/process-watch.js';
import { type ServerProcess, startServer } from './support/server-process.js';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    streams: { type: 'string', default: '128' },
    reloads: { type: 'string', default: '50' },
  },
});
const RATE_HZ = 192_000;
const PIECE_BYTES = 128 * 1024;
/** The first reloads still grow the heaps. */
const FIRST_RELOADS = 2;
/** Longer than the wait of a lost stream for its client. */
const REST_MS = 60_000;

const memoryMiB = ({ pid }: ServerProcess, what: 'VmRSS' | 'VmHWM'): number =>
  Math.round(
    Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
      1024,
  );

/** Sends as fast as possible, until the server ends the stream. */
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

async function measure(version: string, main: string) {
  const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
  const server = await startServer(folder, {}, { main });
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
    return { version, idleMiB, peakMiB, afterMiB, perReloadMiB: Math.round(perReloadMiB * 100) / 100 };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const servers = [
  ['now', join(packageDir, 'dist/cli/main.js')] as const,
  ...(values.before === undefined ? [] : [['before', values.before] as const]),
];
const rows = await Promise.all(servers.map(([version, main]) => measure(version, main)));
const { streams, reloads } = values;
const result = { machine: describeMachine(), streams: Number(streams), reloads: Number(reloads), rows };
const text = JSON.stringify(result, undefined, 2);
console.log(text);
writeFileSync(join(packageDir, 'bench/results/memory.json'), `${text}\n`);
