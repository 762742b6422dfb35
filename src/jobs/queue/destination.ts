// SPDX-License-Identifier: Apache-2.0

/** An address for people, without the query: it may hold a secret of the client's. */
export function destinationOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
