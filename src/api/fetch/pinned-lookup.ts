// SPDX-License-Identifier: Apache-2.0
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Answers every question with the addresses that were found to be acceptable. */
export function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
