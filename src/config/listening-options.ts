// SPDX-License-Identifier: Apache-2.0
import { parseAddressRange } from './address-range.js';
import { parseCorsOrigin, parseListenAddress } from './listen-address.js';
import { integer, list, MEBIBYTE, type OptionsOf, optional, text } from './option.js';

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
      'Proxies whose `X-Forwarded-For` says which address a request came from. Without them it is the address that the connection came from; a range that holds clients lets them choose their address.',
  }),
  adminAddress: optional({
    variable: 'VERAVOX_ADMIN_ADDRESS',
    accepts: '`host:port`',
    defaultText: 'none: everything is on the public port',
    parseValue: parseListenAddress,
    description:
      'A second address with all routes, for operators: `/metrics` and `/docs` are only there then, and `/readyz` gives its details. It speaks HTTP without TLS and asks for no key there, so keep strangers from it.',
  }),
  tlsCertFile: text({
    variable: 'VERAVOX_TLS_CERT',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description:
      'Certificate for HTTPS in the form of PEM, followed by those between it and the root. It is read again on SIGHUP.',
  }),
  tlsKeyFile: text({
    variable: 'VERAVOX_TLS_KEY',
    accepts: 'a file',
    default: '',
    defaultText: 'none: HTTP',
    description: 'The private key of the certificate in the form of PEM, without a passphrase.',
  }),
  corsOrigins: list({
    variable: 'VERAVOX_CORS_ORIGINS',
    accepts: '`*` or origins such as `https://app.example`',
    parseItem: parseCorsOrigin,
    description:
      'Pages in browsers that may read answers of the API and use links of the data folder. An API key in a page can be read by everybody who opens it.',
  }),
  maxConnections: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS',
    default: 8192,
    minimum: 1,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections at once; one more is closed. Fewer where the process may not open as many files: a quarter of those, up to 512, stays free for other uses.',
  }),
  maxConnectionsPerAddress: integer({
    variable: 'VERAVOX_MAX_CONNECTIONS_PER_ADDRESS',
    default: 2048,
    minimum: 0,
    maximum: 1_000_000,
    unit: 'connections',
    description:
      'Open connections of one IPv4 address or one IPv6 network of 64 bits, except trusted proxies; one more is closed. 0 sets no limit.',
  }),
  maxAnswerBytes: integer({
    variable: 'VERAVOX_MAX_ANSWER_BYTES',
    default: 64 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 64 * 1024 * MEBIBYTE,
    unit: 'bytes',
    description:
      'Memory for answers that clients take slowly, over all connections; when it is full, further slow clients are cut off.',
  }),
} satisfies OptionsOf<
  | 'port'
  | 'host'
  | 'trustedProxies'
  | 'adminAddress'
  | 'tlsCertFile'
  | 'tlsKeyFile'
  | 'corsOrigins'
  | 'maxConnections'
  | 'maxConnectionsPerAddress'
  | 'maxAnswerBytes'
>;
