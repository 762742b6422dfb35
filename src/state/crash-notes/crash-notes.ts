// SPDX-License-Identifier: Apache-2.0
//
// This room reads the notes that the native code leaves when a decoder crashes, and counts the inputs that
// ended a process. Such an input is refused later.
import fs from 'node:fs';

/** An input whose analysis ended the process. */
export interface DeadlyInput {
  /** SHA-256 of the file's bytes, in hexadecimal digits. */
  readonly sha256: string;
  /** Number of the signal, as in signal(7). */
  readonly signal: number;
}

// As native/guard/crash_notes.h lays them out, in the byte order of every processor that the server runs on.
const MAGIC = 'vxnotes1';
const NOTE_BYTES = 64;
const STATE_DIED = 2;
const SIGNAL_OFFSET = 8;
const DIGEST_OFFSET = 16;
const DIGEST_BYTES = 32;

/**
 * Reads which inputs killed the process that wrote the file: none if it ended in another way.
 * @throws Error when there is no such file
 */
export function readCrashNotes(file: string): DeadlyInput[] {
  const bytes = fs.readFileSync(file);
  // A process that dies while it makes the file leaves it empty.
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return [];
  const deadly: DeadlyInput[] = [];
  for (let at = NOTE_BYTES; at + NOTE_BYTES <= bytes.length; at += NOTE_BYTES) {
    if (bytes.readUInt32LE(at) !== STATE_DIED) continue;
    const digest = bytes.subarray(at + DIGEST_OFFSET, at + DIGEST_OFFSET + DIGEST_BYTES);
    deadly.push({ sha256: digest.toString('hex'), signal: bytes.readInt32LE(at + SIGNAL_OFFSET) });
  }
  return deadly;
}
