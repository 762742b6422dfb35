// SPDX-License-Identifier: Apache-2.0
import type { AllowedHost } from '../../base/config/allowed-host.js';
import type { Config } from '../../base/config/options.js';
import type { PrivateHost } from '../../base/config/private-host.js';
import { LINK_FIELD } from '../../base/contract/link-field.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isHouseAddress, opens } from './house-address.js';

export interface FetchTarget {
  readonly url: URL;
  /** Of the client that named it; default a common one. */
  readonly account?: string | undefined;
  /** The configured storage may have any address; others need public ones, or opened ones. */
  readonly isStorage: boolean;
  /** False for a host that is allowed only with private addresses; default true. */
  readonly mayBePublic?: boolean;
  /** Whether its host may have this address, although it is not public; default never. */
  readonly opens?: (address: string) => boolean;
}

const MAX_URL_BYTES = 8 * 1024;
const MAX_SHOWN_CHARS = 100;
/** The labels behind a wildcard. */
const LABELS = /^(?:[a-z0-9_-]+\.)+$/;
/** WHATWG's parser forgives more than this: white space, backslashes, no slashes, other scripts. */
const PLAIN_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

/** The field that has the link, and the error for one to another host. */
export interface PolicySubject {
  readonly field: string;
  readonly refusal: ErrorKey;
}

const files: PolicySubject = { field: LINK_FIELD, refusal: 'FETCH_HOST_REFUSED' };
const callbacks: PolicySubject = { field: 'callback_url', refusal: 'WEBHOOK_HOST_REFUSED' };

export interface PolicyOptions {
  readonly subject?: PolicySubject;
  /** Private hosts. */
  readonly privateHosts?: readonly PrivateHost[];
  /** Whether the storage has made this link, whatever host it names; default never. */
  readonly isOwnLink?: (url: URL) => boolean;
}

/** Decides on the target of a link, from its text alone: nothing is resolved or sent for a refused one. */
export class FetchPolicy {
  readonly #prefixesOfStorage: () => readonly string[];
  #storagePrefixes: readonly URL[] | undefined;
  readonly #allowedHosts: readonly AllowedHost[];
  readonly #subject: PolicySubject;
  readonly #privateHosts: readonly PrivateHost[];
  readonly #isOwnLink: (url: URL) => boolean;

  /**
   * @param prefixesOfStorage the beginnings of the configured storage's links, such as `https://s3.example.com/`: origin and
   * path, whole segments only. Asked once, by the first link: the embedded storage's own depend on the port that the server
   * got.
   */
  constructor(
    prefixesOfStorage: () => readonly string[],
    allowedHosts: readonly AllowedHost[],
    { subject = files, privateHosts = [], isOwnLink = () => false }: PolicyOptions = {},
  ) {
    this.#prefixesOfStorage = prefixesOfStorage;
    this.#allowedHosts = allowedHosts;
    this.#subject = subject;
    this.#privateHosts = privateHosts;
    this.#isOwnLink = isOwnLink;
  }

  /** @throws ServiceError FIELD_INVALID, FETCH_HOST_REFUSED or the subject's error; none shows the link's query, which holds a signature */
  judge(link: string): FetchTarget {
    const url = this.#parse(link);
    this.#storagePrefixes ??= this.#prefixesOfStorage().map((prefix) => new URL(prefix));
    if (this.#isOwnLink(url) || this.#storagePrefixes.some((prefix) => startsWith(url, prefix))) {
      return { url, isStorage: true };
    }
    const mayBePublic = this.#allowedHosts.some((allowed) => matches(allowed, url));
    const { isNamed, opens } = this.#inHouse(url);
    if (mayBePublic || isNamed || opens(url.hostname.replace(/^\[(.*)\]$/, '$1'))) {
      return { url, isStorage: false, mayBePublic, opens };
    }
    throw new ServiceError(this.#subject.refusal, { origin: url.origin.slice(0, MAX_SHOWN_CHARS) });
  }

  #inHouse(url: URL): { readonly isNamed: boolean; readonly opens: (address: string) => boolean } {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    const entries = this.#privateHosts.filter((entry) => entry.port === undefined || entry.port === port);
    const isNamed = entries.some((entry) => entry.range === undefined && isNameOf(entry, url.hostname));
    const ranges = entries.flatMap(({ range }) => (range === undefined ? [] : [range]));
    return {
      isNamed,
      opens: (address) =>
        (isNamed && isHouseAddress(address)) || ranges.some((range) => opens(range, address)),
    };
  }

  #parse(link: string): URL {
    const bytes = Buffer.byteLength(link);
    if (bytes > MAX_URL_BYTES) throw this.#invalid(`one of ${bytes} bytes`);
    if (!PLAIN_URL.test(link) || !URL.canParse(link)) {
      throw this.#invalid(link === '' ? 'an empty value' : 'something else');
    }
    const url = new URL(link);
    if (url.username !== '' || url.password !== '') throw this.#invalid('one with user information');
    return url;
  }

  #invalid(received: string): ServiceError {
    const expected = `an http or https link of at most ${MAX_URL_BYTES} bytes, without user information,`;
    return new ServiceError('FIELD_INVALID', { field: this.#subject.field, expected, received });
  }
}

/** Of `presigned_url`. */
export const linkPolicy = (
  { fetchAllowedHosts, fetchPrivateHosts }: Pick<Config, 'fetchAllowedHosts' | 'fetchPrivateHosts'>,
  prefixesOfStorage: () => readonly string[],
  isOwnLink?: (url: URL) => boolean,
): FetchPolicy =>
  new FetchPolicy(prefixesOfStorage, fetchAllowedHosts, {
    privateHosts: fetchPrivateHosts,
    ...(isOwnLink && { isOwnLink }),
  });

/** Of `callback_url`. */
export const webhookPolicy = ({
  webhookHosts,
  webhookPrivateHosts: privateHosts,
}: Pick<Config, 'webhookHosts' | 'webhookPrivateHosts'>): FetchPolicy =>
  new FetchPolicy(() => [], webhookHosts, { privateHosts, subject: callbacks });

/** The parser has resolved dots in the path, escaped ones as well. */
const startsWith = (url: URL, prefix: URL): boolean =>
  url.origin === prefix.origin && url.pathname.startsWith(prefix.pathname);

const matches = (allowed: AllowedHost, url: URL): boolean =>
  url.protocol === allowed.protocol && url.port === allowed.port && isNameOf(allowed, url.hostname);

function isNameOf({ host, isWildcard }: Pick<AllowedHost, 'host' | 'isWildcard'>, hostname: string): boolean {
  if (!isWildcard) return hostname === host;
  return hostname.endsWith(host) && LABELS.test(hostname.slice(0, -host.length));
}
