// SPDX-License-Identifier: Apache-2.0
import { type AddressRange, parseAddressRange } from './address-range.js';

/** Private hosts: by their addresses, or one or all below a domain by their names. */
export type PrivateHost = {
  /** Undefined for any. */
  readonly port: number | undefined;
} & (
  | { readonly range: AddressRange }
  | { readonly range: undefined; readonly host: string; readonly isWildcard: boolean }
);

// A wildcard below one label is fine here: the addresses must be of the house as well.
const NAME = /^(\*\.)?((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?)$/;

/** Its form, for people. */
export const PRIVATE_HOST = '`address[/bits][:port]` or `[*.]name[:port]`';

/** `address`, `address/bits` or `[*.]name`, and `:port` behind them; an IPv6 address with a port in brackets. */
export function parsePrivateHost(text: string): PrivateHost | undefined {
  const alone = parseAddressRange(text);
  if (alone !== undefined) return { range: alone, port: undefined };
  const [, whole = '', portText] = /^(.*?)(?::(\d{1,5}))?$/.exec(text.toLowerCase()) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const [, bracketed] = /^\[(.+)\]$/.exec(whole) ?? [];
  const range = parseAddressRange(bracketed ?? whole);
  if (range !== undefined) {
    const isUnambiguous = (range.family === 'ipv6') === (bracketed !== undefined);
    return isUnambiguous ? { range, port } : undefined;
  }
  const [, star, host = ''] = NAME.exec(whole) ?? [];
  return host === '' ? undefined : { range: undefined, host, isWildcard: star !== undefined, port };
}
