// SPDX-License-Identifier: Apache-2.0
import { descriptorsAllowed } from '../api/http/descriptors.js';
import type { Config } from '../base/config/options.js';

/** For the program's files while they are read, its database, log and audit, and a few connections. */
const FOR_ITSELF = 128;
/** Pipes and event loops of one thread. */
const PER_THREAD = 8;

type Threads = Pick<Config, 'prepareThreads' | 'scoringThreads' | 'jobWorkers'>;

/** File descriptors without which a server does not start, or not for long. */
export const descriptorsNeeded = ({ prepareThreads, scoringThreads, jobWorkers }: Threads): number =>
  FOR_ITSELF + PER_THREAD * (prepareThreads + scoringThreads + jobWorkers);

/** Without these not even the files of a command can be read: Node would name one of them, and no way out. */
const NEEDED_TO_LOAD = descriptorsNeeded({ prepareThreads: 1, scoringThreads: 1, jobWorkers: 1 });

/** @returns for people, how many there are. @throws Error that says how many are needed */
export function checkDescriptors(threads: Threads, allowed = descriptorsAllowed()): string {
  const needed = descriptorsNeeded(threads);
  if (allowed >= needed) return `${allowed} allowed, ${needed} needed; each connection takes one more`;
  throw tooFew(needed, allowed);
}

/** @throws Error that says how many are needed */
export function checkDescriptorsToLoad(allowed = descriptorsAllowed()): void {
  if (allowed < NEEDED_TO_LOAD) throw tooFew(NEEDED_TO_LOAD, allowed);
}

const tooFew = (needed: number, allowed: number): Error =>
  new Error(
    `At least ${needed} file descriptors are needed, and by a server one more for each connection, but this process may have only ${allowed}. Raise the limit: ulimit -n in a shell, LimitNOFILE= in a systemd unit, --ulimit nofile= for a container.`,
  );
