// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';

/** The most memory that a process has had since the last reset. */
export class MemoryPeak {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  get mib(): number {
    const status = fs.readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  /** From now on, the peak starts at what it has at the moment. */
  reset(): void {
    fs.writeFileSync(`/proc/${this.#pid}/clear_refs`, '5');
  }
}

/** The most bytes that the files of some folders have taken together; looks five times a second. */
export class DiskPeak {
  #peakBytes = 0;
  readonly #folders: readonly string[];
  readonly #timer: NodeJS.Timeout;

  constructor(folders: readonly string[]) {
    this.#folders = folders;
    this.#timer = setInterval(() => this.#look(), 200);
    this.#look();
  }

  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#peakBytes;
  }

  #look(): void {
    const bytes = this.#folders.reduce((sum, folder) => sum + bytesIn(folder), 0);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
  }
}

/** That the disk holds for the files, which is less than their length if they have holes. */
export function bytesIn(folder: string): number {
  let sum = 0;
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = fs.lstatSync(path.join(folder, name), { throwIfNoEntry: false });
    if (stat?.isFile()) sum += stat.blocks * 512;
  }
  return sum;
}
