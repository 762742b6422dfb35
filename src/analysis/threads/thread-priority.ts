// SPDX-License-Identifier: Apache-2.0
import os from 'node:os';

/** Enough for the main thread to be next whenever it has something to do; the rest of the processor is theirs as before. */
const NICE = 5;
/** On a busy machine, a twentieth of the share of a request's thread. */
const BACKGROUND_NICE = 19;
const MAX_NICE = 19;

/**
 * Lets the main thread, which takes requests, refuses them and answers probes, run before the calling one. If all cores are
 * busy it would otherwise wait for its turn among the threads that decode and score. Needs no privilege. Linux only, where a
 * priority belongs to a thread; elsewhere this would be the whole process.
 */
export function giveWayToMainThread(): void {
  giveWay(NICE);
}

/** Lets all others run before the calling thread. */
export function giveWayToAll(): void {
  giveWay(BACKGROUND_NICE);
}

function giveWay(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    os.setPriority(Math.min(MAX_NICE, os.getPriority() + nice));
  } catch {
    // A system that forbids it works as it would without.
  }
}
