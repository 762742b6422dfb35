// SPDX-License-Identifier: Apache-2.0
import { parseAddressRange } from './address-range.js';
import { parseCorsOrigin, parseListenAddress } from './listen-address.js';
import { choice, integer, list, optional, text } from './option.js';

/** The server's addresses, and its permitted clients. */
export const listeningOptions = {
  port: integer({
    variable: 'PORT',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'TCP port to listen on; 0 picks a free one, which the start message names.',
  }),
  host: text({
    variable: 'HOST',
    accepts: 'a host name or an address',
    default: '127.0.0.1',
    description:
      'Address to listen on. The default is reachable from this machine only; `0.0.0.0` opens the port to the network, for use behind a proxy with TLS.',
  }),
  trustedProxies: list({
    variable: 'VERAVOX_TRUSTED_PROXIES',
    accepts: 'addresses or ranges such as `10.0.0.0/8`',
    parseItem: parseAddressRange,
    description:
      "Proxies whose `X-Forwarded-For` is trusted for the client's address. For all others, the address of the connection counts. A client inside such a range could choose its address.",
  }),
  adminAddress: optional({
    variable: 'VERAVOX_ADMIN_ADDRESS',
    accepts: '`host:port`',
    defaultText: 'none: everything is on the public port',
    parseValue: parseListenAddress,
    description:
      'A second address with all routes, for operators. `/metrics`, `/docs` and the details of `/readyz` then move there and need no key. It speaks HTTP without TLS, so keep it private.',
  }),
  dashboard: choice({
    variable: 'VERAVOX_DASHBOARD',
    choices: ['on', 'off'],
    default: 'on',
    description:
      'The web pages under `/dashboard` and the API behind them, with sign-in. `off` turns both off; with an admin address they are only there.',
  }),
  tlsCertFile: text({
    variable: 'VERAVOX_TLS_CERT',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description:
      'Certificate for HTTPS in PEM format, followed by its intermediate certificates. SIGHUP reloads it.',
  }),
  tlsKeyFile: text({
    variable: 'VERAVOX_TLS_KEY',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description: "The certificate's private key in PEM format, without a passphrase.",
  }),
  corsOrigins: list({
    variable: 'VERAVOX_CORS_ORIGINS',
    accepts: '`*` or origins such as `https://app.example`',
    parseItem: parseCorsOrigin,
    description:
      "Origins of web pages that may use links to the data folder and read the API's answers, except those of the admin API. An API key in a page is visible to everyone who opens it.",
  }),
  maxConnections: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS',
    default: 8192,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections; further ones are closed. If the process may open fewer files than this, a quarter of them, up to 512, stays free for other uses.',
  }),
  maxConnectionsPerAddress: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS_PER_ADDRESS',
    default: 2048,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections per IPv4 address or 64-bit IPv6 network, except for trusted proxies; further ones are closed. 0 means no limit.',
  }),
};
