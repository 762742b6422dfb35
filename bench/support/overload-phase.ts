// SPDX-License-Identifier: Apache-2.0
//
// One phase of overload.ts: a load on the server, simultaneous probes, and the use of the processors.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, LoadResult } from './overload-load.js';

export type PhaseOrder = Omit<LoadOrder, 'port' | 'path' | 'boundary' | 'body'>;

export interface Target {
  readonly port: number;
  readonly pid: number;
  readonly boundary: string;
  /** The form, in base64. */
  readonly body: string;
}

export interface PhaseResult extends LoadResult {
  readonly durationS: number;
  readonly probesMs: readonly number[];
  readonly serverCpuS: number;
  /** Processor time of everything on the machine except server and load. */
  readonly othersCpuS: number;
  readonly peakMiB: number;
}

const CLOCK_TICKS_PER_S = 100;

function cpuSOf(pid: number | 'self'): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
}

/** Since the start of the system, over all processors; excludes idle, disk wait and time of other guests. */
function cpuSOfAll(): number {
  const [user, nice, system, , , interrupts, softInterrupts] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number) as [number, number, number, number, number, number, number];
  return (user + nice + system + interrupts + softInterrupts) / CLOCK_TICKS_PER_S;
}

const residentMiB = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

/** Uses its own connection, like orchestrators. */
function probe(port: number, path: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const done = (): void => resolve(performance.now() - startedMs);
    const asking = http.get({ port, host: '127.0.0.1', path, agent: false, timeout: 10_000 }, (answer) => {
      answer.resume();
      answer.on('end', done);
    });
    asking.on('error', done);
  });
}

export async function runPhase(
  { port, pid, boundary, body }: Target,
  phase: PhaseOrder,
): Promise<PhaseResult> {
  const { durationS } = phase;
  const worker = fork(fileURLToPath(new URL('./overload-load.js', import.meta.url)));
  const order: LoadOrder = { port, path: '/v1/predict', boundary, body, ...phase };
  const probesMs: number[] = [];
  let running = true;
  let peakMiB = 0;
  const probing = (async () => {
    while (running) {
      for (const path of ['/livez', '/readyz', '/metrics']) probesMs.push(await probe(port, path));
      peakMiB = Math.max(peakMiB, residentMiB(pid));
      await delay(50);
    }
  })();
  const times = () => ({ server: cpuSOf(pid), own: cpuSOf('self'), all: cpuSOfAll() });
  const before = times();
  worker.send(order);
  const atEnd = delay(durationS * 1000).then(times);
  const [result] = (await once(worker, 'message')) as [LoadResult];
  running = false;
  await probing;
  const after = await atEnd;
  const serverCpuS = after.server - before.server;
  const ownCpuS = after.own - before.own;
  const othersCpuS = after.all - before.all - serverCpuS - ownCpuS - result.cpuS;
  return { ...result, durationS, probesMs, serverCpuS, othersCpuS, peakMiB };
}
