// SPDX-License-Identifier: Apache-2.0
import type { AllowedHost } from '../../base/config/allowed-host.js';
import { LINK_FIELD } from '../../base/contract/link-field.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';

export interface FetchTarget {
  readonly url: URL;
  /** The configured storage may have any address; others need public ones. */
  readonly isStorage: boolean;
}

const MAX_URL_BYTES = 8 * 1024;
const MAX_SHOWN_CHARS = 100;
/** What a wildcard stands for. */
const LABELS = /^(?:[a-z0-9_-]+\.)+$/;
/** WHATWG's parser forgives more than this: white space, backslashes, no slashes, other scripts. */
const PLAIN_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

/** The field that has the link, and the error for one to another host. */
export interface PolicySubject {
  readonly field: string;
  readonly refusal: ErrorKey;
}

const files: PolicySubject = { field: LINK_FIELD, refusal: 'FETCH_HOST_REFUSED' };
export const callbacks: PolicySubject = { field: 'callback_url', refusal: 'WEBHOOK_HOST_REFUSED' };

/** Decides where a link may point to, from its text alone: nothing is resolved or sent for a refused one. */
export class FetchPolicy {
  readonly #prefixesOfStorage: () => readonly string[];
  #storagePrefixes: readonly URL[] | undefined;
  readonly #allowedHosts: readonly AllowedHost[];
  readonly #subject: PolicySubject;

  /**
   * @param prefixesOfStorage what the configured storage's links begin with, such as `https://s3.example.com/`: origin
   * and path, whole segments only. Asked once, by the first link: the embedded storage's own depend on the port that the
   * server got.
   */
  constructor(
    prefixesOfStorage: () => readonly string[],
    allowedHosts: readonly AllowedHost[],
    subject = files,
  ) {
    this.#prefixesOfStorage = prefixesOfStorage;
    this.#allowedHosts = allowedHosts;
    this.#subject = subject;
  }

  /** @throws ServiceError FIELD_INVALID, FETCH_HOST_REFUSED or what the subject says; none shows the link's query, which holds a signature */
  judge(link: string): FetchTarget {
    const url = this.#parse(link);
    this.#storagePrefixes ??= this.#prefixesOfStorage().map((prefix) => new URL(prefix));
    if (this.#storagePrefixes.some((prefix) => startsWith(url, prefix))) return { url, isStorage: true };
    if (this.#allowedHosts.some((allowed) => matches(allowed, url))) return { url, isStorage: false };
    throw new ServiceError(this.#subject.refusal, { origin: url.origin.slice(0, MAX_SHOWN_CHARS) });
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

/** The parser has resolved dots in the path, escaped ones as well. */
const startsWith = (url: URL, prefix: URL): boolean =>
  url.origin === prefix.origin && url.pathname.startsWith(prefix.pathname);

function matches({ protocol, host, port, isWildcard }: AllowedHost, url: URL): boolean {
  if (url.protocol !== protocol || url.port !== port) return false;
  if (!isWildcard) return url.hostname === host;
  return url.hostname.endsWith(host) && LABELS.test(url.hostname.slice(0, -host.length));
}
