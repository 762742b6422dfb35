// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';

/** Writes acknowledged to clients and commands: none may be lost. */
export class Acknowledged {
  readonly keys: string[] = [];
  /** MD5 of the content, by key. */
  readonly stored = new Map<string, string>();
  readonly deleted = new Set<string>();
  /** The last versions of the one object that is overwritten repeatedly. */
  readonly overwritten = { acknowledged: -1, sent: -1 };
  readonly operatingPoints: string[] = [];
  readonly counts = {
    stored: 0,
    overwritten: 0,
    deleted: 0,
    predictions: 0,
    keys: 0,
    operatingPoints: 0,
    killedCommands: 0,
    checked: 0,
  };
}

export const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

/** Version `i` of the overwritten object. */
export function versionOf(i: number): Buffer {
  const bytes = Buffer.alloc(300_000, i & 255);
  bytes.writeUInt32LE(i, 0);
  return bytes;
}
