// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { ExpectedWait } from './expected-wait.js';
import { RequestPermits } from './request-permits.js';

/** The traits that decide which pool gives a request its permit. */
export interface PermitTraits {
  /** Its permits are those of transfers, of which requests to the API need none. */
  readonly isTransfer?: true;
  /** Its answers last for long and do little: they have permits of their own, and do not count as requests of the key in flight. */
  readonly isWatch?: true;
  /** Anybody may send a body, and take their time: it has permits of its own, so that strangers leave those of keys alone. */
  readonly isSignIn?: true;
  /** For administration, which has permits of its own, so that operators get in when the server is full. */
  readonly isAdmin?: true;
}

/** Permits of requests that never keep each other out. */
export interface PermitPools {
  readonly requests: RequestPermits;
  readonly transfers: RequestPermits;
  readonly watches: RequestPermits;
  readonly signIns: RequestPermits;
  readonly adminRequests: RequestPermits;
  readonly adminWatches: RequestPermits;
}

/** Of strangers, who may be slow; eight of them wait for the hash of a password. */
const MAX_SIGN_INS = 128;
/** A view of the dashboard sends up to ten at once. */
const MAX_ADMIN_REQUESTS = 64;
/** A page with jobs has one or two. */
const MAX_ADMIN_WATCHES = 128;

export function openPermitPools(config: Config, expectedWait: ExpectedWait): PermitPools {
  const { keySharePercent: share, addressSharePercent: address } = config;
  const ofAddresses = (limit: number, what: string): RequestPermits =>
    new RequestPermits(limit, { percents: { address }, what });
  return {
    requests: new RequestPermits(config.maxInflightRequests, {
      percents: { key: share, address },
      retryAfterS: ({ key = '' }) => expectedWait.retryAfterS(key),
    }),
    transfers: new RequestPermits(config.maxTransfers, {
      percents: { account: share, file: share, address },
      what: 'transfers',
    }),
    watches: new RequestPermits(config.maxEventStreams, {
      percents: { key: share, address },
      what: 'streams of events',
    }),
    signIns: ofAddresses(MAX_SIGN_INS, 'sign-ins in flight'),
    adminRequests: ofAddresses(MAX_ADMIN_REQUESTS, 'requests to the admin API in flight'),
    adminWatches: ofAddresses(MAX_ADMIN_WATCHES, 'streams of events for operators'),
  };
}

export function poolFor({ isTransfer, isWatch, isSignIn, isAdmin }: PermitTraits, pools: PermitPools) {
  if (isTransfer) return pools.transfers;
  if (isSignIn) return pools.signIns;
  if (isAdmin) return isWatch ? pools.adminWatches : pools.adminRequests;
  return isWatch ? pools.watches : pools.requests;
}

export const permitsInUse = (pools: PermitPools): number =>
  Object.values(pools).reduce((sum, { inUse }: RequestPermits) => sum + inUse, 0);

/** Resolves once no permit is in use. */
export async function permitsDrained(pools: PermitPools): Promise<void> {
  await Promise.all(Object.values(pools).map((permits: RequestPermits) => permits.drained()));
}
