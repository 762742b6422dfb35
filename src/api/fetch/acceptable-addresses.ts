// SPDX-License-Identifier: Apache-2.0
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { ServiceError } from '../../base/errors/service-error.js';
import { CallClock, orAborted } from '../../base/outgoing/call-clock.js';
import { findAddresses } from '../../base/outgoing/names.js';
import { timedOut, unreachable } from './fetch-failure.js';
import type { FetchTarget } from './fetch-policy.js';
import { isPublicAddress } from './public-address.js';

/** The outside world of a fetch. Tests have names and addresses of their own. */
export interface FetchSurroundings {
  /** Accounts do not wait for each other's names. */
  readonly resolve: (
    hostname: string,
    account: string,
    signal: AbortSignal,
  ) => Promise<readonly LookupAddress[]>;
  readonly isPublicAddress: (address: string) => boolean;
  /** Certificate authorities in place of Node's. */
  readonly ca?: string;
}

export const surroundings: FetchSurroundings = {
  resolve: findAddresses,
  isPublicAddress,
};

/** For a name that is resolved when nothing is sent. */
const LOOK_MS = 2000;

/**
 * Refuses a link that each fetch would refuse. A name that cannot be resolved now may be there later.
 * @throws ServiceError FETCH_ADDRESS_REFUSED
 */
export async function refuseUnacceptable(target: FetchTarget, around: FetchSurroundings): Promise<void> {
  const clock = new CallClock({ stallTimeoutMs: LOOK_MS, totalTimeoutMs: LOOK_MS }, timedOut);
  try {
    await acceptableAddresses(target, around, clock.signal, () => {});
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'FETCH_ADDRESS_REFUSED') throw error;
  } finally {
    clock.stop();
  }
}

/**
 * The permitted addresses of a connection for this link. One special address among public ones refuses them all: such a name is
 * broken, or a trick.
 * @param progress called when the name is resolved
 * @throws ServiceError FETCH_ADDRESS_REFUSED, FETCH_UNREACHABLE, or the signal's reason
 */
export async function acceptableAddresses(
  { url, account = '', isStorage, mayBePublic = true, opens = () => false }: FetchTarget,
  { resolve, isPublicAddress }: FetchSurroundings,
  signal: AbortSignal,
  progress: () => void,
): Promise<readonly LookupAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  // Node connects to an address without asking `lookup`, so it is judged here like any other.
  const addresses =
    family === 0
      ? await resolved(() => resolve(host, account, signal), signal, progress)
      : [{ address: host, family }];
  const isAcceptable =
    isStorage ||
    addresses.every(({ address }) => (mayBePublic && isPublicAddress(address)) || opens(address));
  if (!isAcceptable) throw new ServiceError('FETCH_ADDRESS_REFUSED', { host });
  return addresses;
}

async function resolved(
  resolve: () => ReturnType<FetchSurroundings['resolve']>,
  signal: AbortSignal,
  progress: () => void,
): Promise<readonly LookupAddress[]> {
  signal.throwIfAborted();
  const answer = resolve().catch((error) => Promise.reject(unreachable(error)));
  // The question cannot be taken back; its answer is then ignored.
  const addresses = await orAborted(signal, answer);
  progress();
  if (addresses.length === 0) throw unreachable(new Error('the host has no address'));
  return addresses;
}
