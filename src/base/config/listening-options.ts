// SPDX-License-Identifier: Apache-2.0
import { parseAddressRange } from './address-range.js';
import { parseCorsOrigin, parseListenAddress } from './listen-address.js';
import { integer, list, MEBIBYTE, optional, text } from './option.js';

/** Where the server listens, and for whom. */
export const listeningOptions = {
  port: integer({
    variable: 'PORT',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'TCP port to listen on; 0 takes a free one, which the start message names.',
  }),
  host: text({
    variable: 'HOST',
    accepts: 'a host name or an address',
    default: '127.0.0.1',
    description:
      'Address to listen on. The default is reachable from this machine only; `0.0.0.0` opens the port to the network, where a proxy should add TLS.',
  }),
  trustedProxies: list({
    variable: 'VERAVOX_TRUSTED_PROXIES',
    accepts: 'addresses or ranges such as `10.0.0.0/8`',
    parseItem: parseAddressRange,
    description:
      "Proxies whose `X-Forwarded-For` names the client's address. Without them it is the address of the connection. Clients inside such a range could choose their address.",
  }),
  adminAddress: optional({
    variable: 'VERAVOX_ADMIN_ADDRESS',
    accepts: '`host:port`',
    defaultText: 'none: everything is on the public port',
    parseValue: parseListenAddress,
    description:
      'A second address with all routes, for operators. Only there are `/metrics`, `/docs` and the details of `/readyz` then. It speaks HTTP without TLS and needs no key for these, so keep strangers away from it.',
  }),
  tlsCertFile: text({
    variable: 'VERAVOX_TLS_CERT',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description: 'Certificate for HTTPS as PEM, followed by its intermediate certificates. SIGHUP renews it.',
  }),
  tlsKeyFile: text({
    variable: 'VERAVOX_TLS_KEY',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description: "The certificate's private key as PEM, without a passphrase.",
  }),
  corsOrigins: list({
    variable: 'VERAVOX_CORS_ORIGINS',
    accepts: '`*` or origins such as `https://app.example`',
    parseItem: parseCorsOrigin,
    description:
      'Pages in browsers that may read answers of the API and use links of the data folder. Everybody who opens a page can read an API key in it.',
  }),
  maxConnections: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS',
    default: 8192,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections; one more is closed. If the process may open fewer files, a quarter of those, up to 512, stays free for other uses.',
  }),
  maxConnectionsPerAddress: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS_PER_ADDRESS',
    default: 2048,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections of one IPv4 address or one 64-bit IPv6 network, except trusted proxies; one more is closed. 0 sets no limit.',
  }),
  maxAnswerBytes: integer({
    variable: 'VERAVOX_MAX_ANSWER_BYTES',
    default: 64 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 64 * 1024 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Memory for answers to slow clients, over all connections; if it is full, further slow clients are cut off.',
  }),
};
