// SPDX-License-Identifier: Apache-2.0
import { isClientFault } from '../../base/errors/client-fault.js';

/** The subjects of requests, in the history. */
export const requestGroups = [
  'detection',
  'voice_identity',
  'jobs',
  'streams',
  'files',
  'transfers',
  'admin',
  'operation',
] as const;
export type RequestGroup = (typeof requestGroups)[number];

/** By the beginning of a route's path. */
const beginnings: readonly (readonly [path: string, group: RequestGroup])[] = [
  ['/v1/predict', 'detection'],
  ['/v0/predict', 'detection'],
  ['/predict', 'detection'],
  ['/v1/profiles', 'detection'],
  ['/v1/voiceid', 'voice_identity'],
  ['/v1/jobs', 'jobs'],
  ['/v1/batches', 'jobs'],
  ['/v1/stream', 'streams'],
  ['stream', 'streams'],
  ['/v1/file', 'files'],
  ['/v0/file', 'files'],
  ['/file', 'files'],
  // The targets of the embedded storage's links.
  ['/veravox', 'transfers'],
  ['/v1/admin', 'admin'],
  ['/dashboard', 'admin'],
];

/** @param route as records name it */
export const groupOf = (route: string): RequestGroup =>
  beginnings.find(([path]) => route.startsWith(path))?.[1] ?? 'operation';

/**
 * Requests whose times make sense together: analyses, and other calls. A stream lasts as long as its speech, one of events as
 * long as its job.
 */
const latencyKinds = ['analysis', 'other'] as const;

/** @param route as above */
export function latencyKindOf(route: string): (typeof latencyKinds)[number] | undefined {
  if (route.endsWith('/events')) return undefined;
  const group = groupOf(route);
  if (group === 'detection' || group === 'voice_identity') return 'analysis';
  return group === 'jobs' || group === 'files' ? 'other' : undefined;
}

/** The outcomes of requests. */
export const requestOutcomes = ['ok', 'client_error', 'limited', 'failed', 'gone'] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

/** `limited` is too much of something: requests, work, jobs. */
export function outcomeOf(status: number): RequestOutcome {
  if (status < 400) return 'ok';
  if (status === 429 || status === 503) return 'limited';
  if (status === 499) return 'gone';
  return isClientFault(status) ? 'client_error' : 'failed';
}
