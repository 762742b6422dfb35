// SPDX-License-Identifier: Apache-2.0
import { isIPv6 } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, an IPv6 address in brackets; undefined for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, name, digits = ''] =
    /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253})):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  return name === undefined ? undefined : { host: name, port };
}

/** `*` or scheme, host and port of a page, without a slash at the end. */
export function parseCorsOrigin(text: string): string | undefined {
  if (text === '*') return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.origin !== 'null' && url.origin === text ? text : undefined;
}
