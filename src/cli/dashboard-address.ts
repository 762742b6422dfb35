// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../base/config/options.js';

type Settings = Pick<Config, 'host' | 'port' | 'tlsCertFile' | 'adminAddress' | 'dashboardOrigin'>;

/** Clients cannot connect to an address that means all interfaces. */
const reachable = (host: string): string => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;

export function originOf(scheme: 'http' | 'https', host: string, port: number): string {
  const address = reachable(host);
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The dashboard's address for browsers. @param ports of the server, if they are known */
export function dashboardOrigin(
  { host, port, tlsCertFile, adminAddress, dashboardOrigin: configured }: Settings,
  ports: { readonly port?: number; readonly adminPort?: number | undefined } = {},
): string {
  if (configured !== '') return configured;
  if (adminAddress !== undefined)
    return originOf('http', adminAddress.host, ports.adminPort ?? adminAddress.port);
  return originOf(tlsCertFile === '' ? 'http' : 'https', host, ports.port ?? port);
}
