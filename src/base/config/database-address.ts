// SPDX-License-Identifier: Apache-2.0

/** As libpq calls them. */
const tlsModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The address of a PostgreSQL database, and its user. */
export interface DatabaseAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A function, so that nothing that prints the settings prints it; undefined without one. */
  readonly password: (() => string) | undefined;
  readonly database: string;
  readonly tls: TlsMode;
}

const DEFAULT_PORT = 5432;
const parameters = new Set(['host', 'sslmode']);

/** `postgres://user:password@host:port/database?sslmode=verify-full`; undefined for anything else. */
export function parseDatabaseAddress(text: string): DatabaseAddress | undefined {
  // A URL has no user without a host; for sockets, the host is a parameter.
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/.exec(text) ?? [];
  const whole = `http://${rest?.replace(/^([^/?#]*@)?(?=\/)/, '$1localhost')}`;
  if (rest === undefined || !URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  for (const name of url.searchParams.keys()) if (!parameters.has(name)) return undefined;
  const host = url.searchParams.get('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
  const mode = url.searchParams.get('sslmode') ?? (isOnThisMachine(host) ? 'disable' : 'verify-full');
  const tls = tlsModes.find((known) => known === mode);
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const isComplete = host !== '' && user && password !== undefined && database && url.hash === '';
  if (!isComplete || tls === undefined) return undefined;
  return {
    host,
    port: url.port === '' ? portOf(rest) : Number(url.port),
    user,
    password: password === '' ? undefined : () => password,
    database,
    tls,
  };
}

/** Port 80 is the default of the scheme that stands in for the real one, which a URL leaves out. */
const portOf = (rest: string): number => (/^[^/?#]*:80(?=[/?#])/.test(rest) ? 80 : DEFAULT_PORT);

const isOnThisMachine = (host: string): boolean => /^(?:\/|localhost$|127\.|::1$)/.test(host);

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
