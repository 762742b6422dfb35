// SPDX-License-Identifier: Apache-2.0
import { addressOf, placeOf } from '../../place.js';

const STORED_AS = 'veravox-place';

/** The target of a provider's refusal: a page for strangers only. */
const isRefusal = (hash: string): boolean => placeOf(hash).view === 'sign-in';

/** Before an OpenID provider takes over: the part of an address after `#` does not come back from there. */
export function rememberPlace(): void {
  // After a refusal, the place from before it counts.
  if (!isRefusal(location.hash)) sessionStorage.setItem(STORED_AS, location.hash);
}

/** Goes back to the place, if there is one. Call it after a sign-in. */
export function returnToPlace(): void {
  const hash = sessionStorage.getItem(STORED_AS);
  sessionStorage.removeItem(STORED_AS);
  if (hash?.startsWith('#/') && (location.hash.length <= 2 || isRefusal(location.hash))) {
    location.replace(hash);
  } else if (isRefusal(location.hash)) {
    location.replace(addressOf(''));
  }
}
