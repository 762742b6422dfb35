// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { ChunkSignatures } from './chunk-signatures.js';

const CHUNK_LINE = /^([0-9a-f]{1,13})(?:;chunk-signature=([0-9a-f]{64}))?$/i;
const TRAILER_LINE = /^([a-z0-9-]+):(.*)$/i;
const TRAILER_SIGNATURE = 'x-amz-trailer-signature';
const MAX_LINE_BYTES = 512;
const LINE_FEED = 10;

const malformed = (problem: string): ServiceError => new ServiceError('OBJECT_CHUNKS_INVALID', { problem });

export interface ChunkTerms {
  /** The names in `x-amz-trailer`, in lower case. */
  readonly trailerNames: ReadonlySet<string>;
  /** The value of `x-amz-decoded-content-length`. */
  readonly contentBytes: number | undefined;
  /** Undefined if only the request is signed. */
  readonly signatures: ChunkSignatures | undefined;
}

/**
 * The coding `aws-chunked`, in which SDKs send content with checksums behind it: chunks with a line in front that states their
 * size, and fields behind the last one, which is empty.
 */
export class ChunkedBody {
  readonly #terms: ChunkTerms;
  readonly #trailers = new Map<string, string>();
  #line = '';
  #chunkBytesLeft = 0;
  #chunkSignature: string | undefined;
  #isBehindContent = false;
  #isTrailerSigned = false;
  #contentBytes = 0;

  constructor(terms: ChunkTerms) {
    this.#terms = terms;
  }

  get contentBytes(): number | undefined {
    return this.#terms.contentBytes;
  }

  get trailerNames(): ReadonlySet<string> {
    return this.#terms.trailerNames;
  }

  trailer(name: string): string | undefined {
    return this.#trailers.get(name);
  }

  /**
   * Takes the next bytes of the body and moves their content to the start.
   * @returns the content among them
   * @throws ServiceError OBJECT_CHUNKS_INVALID, SIGNATURE_MISMATCH
   */
  decode(block: Uint8Array): Uint8Array {
    let contentEnd = 0;
    for (let at = 0; at < block.length; ) {
      if (this.#chunkBytesLeft > 0) {
        const end = Math.min(block.length, at + this.#chunkBytesLeft);
        this.#terms.signatures?.update(block.subarray(at, end));
        block.copyWithin(contentEnd, at, end);
        contentEnd += end - at;
        this.#chunkBytesLeft -= end - at;
        if (this.#chunkBytesLeft === 0) this.#endChunk();
        at = end;
      } else {
        const feed = block.indexOf(LINE_FEED, at);
        const end = feed === -1 ? block.length : feed + 1;
        if (this.#line.length + end - at > MAX_LINE_BYTES) throw malformed('a line is too long');
        this.#line += Buffer.from(block.buffer, block.byteOffset + at, end - at).toString('latin1');
        if (feed !== -1) this.#endLine();
        at = end;
      }
    }
    this.#contentBytes += contentEnd;
    return block.subarray(0, contentEnd);
  }

  /** @throws ServiceError OBJECT_CHUNKS_INVALID */
  end(): void {
    const { contentBytes, trailerNames, signatures } = this.#terms;
    if (!this.#isBehindContent || this.#line !== '') throw malformed('it ends too early');
    if (contentBytes !== undefined && contentBytes !== this.#contentBytes) {
      throw malformed(
        `x-amz-decoded-content-length states ${contentBytes} bytes, but the chunks have ${this.#contentBytes}`,
      );
    }
    for (const name of trailerNames) {
      if (!this.#trailers.has(name)) throw malformed(`the trailer ${name} is missing`);
    }
    if (signatures !== undefined && trailerNames.size > 0 && !this.#isTrailerSigned) {
      throw malformed(`the trailer ${TRAILER_SIGNATURE} is missing`);
    }
  }

  #endLine(): void {
    const line = this.#line.trim();
    this.#line = '';
    // One ends each chunk and the body, and some programs write one in front of the trailer's signature.
    if (line === '') return;
    if (this.#isBehindContent) this.#takeTrailer(line);
    else this.#beginChunk(line);
  }

  #beginChunk(line: string): void {
    const [, size, signature] = CHUNK_LINE.exec(line) ?? [];
    if (size === undefined) throw malformed('a chunk does not begin with its size');
    if (this.#terms.signatures !== undefined && signature === undefined) {
      throw malformed('a chunk has no signature');
    }
    this.#chunkSignature = signature;
    this.#chunkBytesLeft = Number.parseInt(size, 16);
    if (this.#chunkBytesLeft > 0) return;
    this.#isBehindContent = true;
    this.#endChunk();
  }

  #endChunk(): void {
    this.#terms.signatures?.endChunk(this.#chunkSignature ?? '');
  }

  #takeTrailer(line: string): void {
    const [, given = '', value = ''] = TRAILER_LINE.exec(line) ?? [];
    const name = given.toLowerCase();
    const { signatures, trailerNames } = this.#terms;
    if (name === TRAILER_SIGNATURE && signatures !== undefined && !this.#isTrailerSigned) {
      const lines = [...this.#trailers].map(([field, text]) => `${field}:${text}\n`).join('');
      signatures.endTrailer(lines, value.trim());
      this.#isTrailerSigned = true;
      return;
    }
    if (!trailerNames.has(name) || this.#trailers.has(name) || this.#isTrailerSigned) {
      throw malformed('there is more behind the last chunk than x-amz-trailer announces');
    }
    this.#trailers.set(name, value.trim());
  }
}
