// SPDX-License-Identifier: Apache-2.0

/** An address for people, without the query: it may hold a secret of the client's. */
export function destinationOf(url: string): string {
  const address = URL.parse(url);
  // A damaged one in the database must not hide the others.
  return address === null ? url.replace(/[?#].*/s, '') : `${address.origin}${address.pathname}`;
}
