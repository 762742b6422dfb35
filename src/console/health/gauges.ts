// SPDX-License-Identifier: Apache-2.0
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Joining } from './slots.js';

/** The server's gauges, read once per second. */
export interface Gauges {
  /** Model inputs of requests that no device has taken yet. */
  inputsWaiting(): number;
  expectedWaitS(): number;
  requestsInFlight(): number;
  transfersInFlight(): number;
  /** Upload memory in use. */
  arenaUsedBytes(): number;
  streams(): number;
  connections(): number;
  /** Jobs that this process works on. */
  jobsBusy(): number;
  /** Of all hosts with the same database; undefined while not known. */
  jobs(): { readonly queued: number; readonly running: number } | undefined;
}

/** The joining of gauges over processes; over seconds, the largest counts. */
export const gaugeJoinings = {
  inputs_waiting: 'sum',
  expected_wait_ms: 'max',
  requests_in_flight: 'sum',
  transfers_in_flight: 'sum',
  upload_kib: 'sum',
  streams: 'sum',
  connections: 'sum',
  jobs_busy: 'sum',
  jobs_queued: 'max',
  jobs_running: 'max',
  rss_kib: 'sum',
  cpu_percent: 'sum',
  loop_delay_ms: 'max',
  loop_busy_percent: 'max',
} as const satisfies Readonly<Record<string, Joining>>;
export type GaugeName = keyof typeof gaugeJoinings;

/** Recorded as one more than their value, because slots cannot tell an unknown number from 0. */
export const raisedGauges: ReadonlySet<string> = new Set<GaugeName>(['jobs_queued', 'jobs_running']);

/** Wakes the event loop that often. */
const LOOP_RESOLUTION_MS = 20;
const KIB = 1024;
const NS_PER_MS = 1e6;

/** Reads the gauges, and measures the process itself. */
export class HistoryGauges {
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #sources: Gauges | undefined;
  #loop = performance.eventLoopUtilization();
  #cpu = process.cpuUsage();
  #readAtMs = performance.now();

  start(sources: Gauges): void {
    this.#sources = sources;
    this.#loopDelay.enable();
  }

  stop(): void {
    this.#loopDelay.disable();
  }

  /** Whole numbers; loop and processor since the time before. */
  read(): [name: GaugeName, value: number][] {
    return [...this.#ofServer(), ...this.#ofProcess()];
  }

  #ofServer(): [GaugeName, number][] {
    const sources = this.#sources;
    if (sources === undefined) return [];
    const jobs = sources.jobs();
    return [
      ['inputs_waiting', sources.inputsWaiting()],
      ['expected_wait_ms', 1000 * sources.expectedWaitS()],
      ['requests_in_flight', sources.requestsInFlight()],
      ['transfers_in_flight', sources.transfersInFlight()],
      ['upload_kib', sources.arenaUsedBytes() / KIB],
      ['streams', sources.streams()],
      ['connections', sources.connections()],
      ['jobs_busy', sources.jobsBusy()],
      ['jobs_queued', jobs === undefined ? 0 : jobs.queued + 1],
      ['jobs_running', jobs === undefined ? 0 : jobs.running + 1],
    ];
  }

  #ofProcess(): [GaugeName, number][] {
    const nowMs = performance.now();
    const elapsedMs = Math.max(1, nowMs - this.#readAtMs);
    this.#readAtMs = nowMs;
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, this.#loop);
    this.#loop = loop;
    const cpu = process.cpuUsage();
    const cpuMs = (cpu.user - this.#cpu.user + cpu.system - this.#cpu.system) / 1000;
    this.#cpu = cpu;
    // The histogram has whole intervals between two wakings.
    const delayMs = Math.max(0, this.#loopDelay.max / NS_PER_MS - LOOP_RESOLUTION_MS);
    this.#loopDelay.reset();
    return [
      ['rss_kib', process.memoryUsage.rss() / KIB],
      ['cpu_percent', (100 * cpuMs) / elapsedMs],
      ['loop_delay_ms', delayMs],
      ['loop_busy_percent', 100 * utilization],
    ];
  }
}
