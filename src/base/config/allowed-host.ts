// SPDX-License-Identifier: Apache-2.0

/** An origin that files may be fetched from, or all origins below a domain. */
export interface AllowedHost {
  readonly protocol: 'http:' | 'https:';
  /** In lower case. */
  readonly host: string;
  /** Empty for the protocol's own. */
  readonly port: string;
  /** Every name below `host`, but not `host` itself. */
  readonly isWildcard: boolean;
}

/** If the last label began with a digit, the entry could be an address in one of its many spellings. */
const ENTRY =
  /^(?:(https?):\/\/)?(\*\.)?((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?)(?::(\d{1,5}))?$/;

/** `[scheme://][*.]host[:port]`, https by default; undefined for anything else. */
export function parseAllowedHost(text: string): AllowedHost | undefined {
  const [, scheme = 'https', star, host = '', port] = ENTRY.exec(text.toLowerCase()) ?? [];
  // `*.com` would allow everyone.
  if (host === '' || (star !== undefined && !host.includes('.'))) return undefined;
  const origin = `${scheme}://${host}${port === undefined ? '' : `:${port}`}`;
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return {
    protocol: url.protocol as AllowedHost['protocol'],
    host: url.hostname,
    port: url.port,
    isWildcard: star !== undefined,
  };
}
