// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from 'node:fs';

/** Resources of a server: the process and its children. */
export interface Usage {
  /** In ascending order. */
  readonly pids: readonly number[];
  readonly residentMiB: number;
  readonly threads: number;
  readonly openFiles: number;
}

/** @throws if the process is gone */
export function usageOf(pid: number): Usage {
  const pids = treeOf(pid).sort((a, b) => a - b);
  let residentKiB = 0;
  let threads = 0;
  let openFiles = 0;
  for (const each of pids) {
    const status = readFileSync(`/proc/${each}/status`, 'utf8');
    residentKiB += numberIn(status, 'VmRSS');
    threads += numberIn(status, 'Threads');
    openFiles += readdirSync(`/proc/${each}/fd`).length;
  }
  return { pids, residentMiB: residentKiB / 1024, threads, openFiles };
}

function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

const numberIn = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);

/** The sum of a metric over its labels; undefined if the server has no such metric. */
export async function metric(port: number, name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return values.length === 0 ? undefined : values.reduce((sum, [, value]) => sum + Number(value), 0);
}
