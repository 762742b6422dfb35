// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Encoding, encodingFor } from './encodings.js';
import type { Headers, Reply } from './route.js';

const gzip = promisify(zlib.gzip);
const brotli = promisify(zlib.brotliCompress);

/** Nearly as short as at the usual level of 11, in a fiftieth of the time. */
const BROTLI_LEVEL = 5;

/** A long text that changes seldom: sent compressed, and not again to a client that has it. */
export class TaggedText {
  readonly #bytes: Uint8Array;
  readonly #contentType: string;
  readonly #tag: string;
  readonly #compressed = new Map<Encoding, Promise<Uint8Array>>();

  constructor(text: string, contentType: string) {
    this.#bytes = Buffer.from(text);
    this.#contentType = contentType;
    // Weak: it stands for the text in any encoding.
    this.#tag = `W/"${createHash('sha256').update(this.#bytes).digest('base64url').slice(0, 22)}"`;
  }

  /** @param asked the headers of the request @param cacheControl must make clients ask each time */
  async reply(asked: ReadonlyMap<string, string>, cacheControl: string): Promise<Reply> {
    const headers: Headers = [
      ['etag', this.#tag],
      ['vary', 'accept-encoding'],
      ['cache-control', cacheControl],
    ];
    if (isKnown(asked.get('if-none-match') ?? '', this.#tag)) {
      return { status: 304, contentType: '', body: '', headers };
    }
    const encoding = encodingFor(asked.get('accept-encoding') ?? '', () => true);
    return {
      status: 200,
      contentType: this.#contentType,
      body: await this.#in(encoding),
      headers: encoding === 'identity' ? headers : [...headers, ['content-encoding', encoding]],
    };
  }

  #in(encoding: Encoding): Promise<Uint8Array> {
    const known = this.#compressed.get(encoding);
    if (known !== undefined) return known;
    const made = compressed(this.#bytes, encoding);
    this.#compressed.set(encoding, made);
    return made;
  }
}

async function compressed(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  switch (encoding) {
    case 'br':
      return brotli(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } });
    case 'gzip':
      return gzip(bytes);
    case 'identity':
      return bytes;
  }
}

/** Whether a client has the text: its header lists tags, or is `*`. */
const isKnown = (header: string, tag: string): boolean =>
  header
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''))
    .some((entry) => entry === '*' || entry === tag.slice(2));
