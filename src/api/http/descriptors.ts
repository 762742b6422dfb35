// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

/** Kept free for everything but connections: files of transfers, the log, look-ups, connections to the storage. */
const RESERVED_SHARE = 0.25;
const MAX_RESERVED = 512;

/** The number that this process may have; Infinity if the system does not say. Node has raised it as far as it may. */
export function descriptorsAllowed(): number {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The connections that the process has descriptors for; Infinity if the system does not say. */
export function connectionsInDescriptors(): number {
  try {
    const free = descriptorsAllowed() - fs.readdirSync('/proc/self/fd').length;
    return Math.max(1, Math.floor(free - Math.min(MAX_RESERVED, free * RESERVED_SHARE)));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether `count` more files can be opened now. */
export function canOpen(count: number): boolean {
  const opened: number[] = [];
  try {
    for (let i = 0; i < count; i++) opened.push(fs.openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'EMFILE' && code !== 'ENFILE';
  } finally {
    for (const descriptor of opened) fs.closeSync(descriptor);
  }
}
