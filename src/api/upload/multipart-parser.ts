// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';
import { type PartHeaders, parsePartHeaders } from './part-headers.js';

export interface MultipartLimits {
  readonly maxParts: number;
  /** Header bytes of one part. */
  readonly maxHeaderBytes: number;
  /** Content bytes of any part but a file. */
  readonly maxFieldBytes: number;
  /** Content bytes of a file. */
  readonly maxFileBytes: number;
  /** The refusal of a larger file, which differs between routes. */
  readonly fileTooLarge: () => ServiceError;
  /** The refusal of a smaller file, if the file also has a least size. */
  readonly minFile?: MinFile;
  /** Another part that may be larger than `maxFieldBytes`. */
  readonly largeField?: LargeField;
  /** Name of a second field of files. */
  readonly otherFilesField?: string;
}

export interface LargeField {
  readonly name: string;
  readonly maxBytes: number;
}

export interface MinFile {
  readonly bytes: number;
  readonly tooSmall: () => ServiceError;
}

/** A part of the form; its content is bytes [start, end) of the body. */
export interface Part extends PartHeaders {
  readonly start: number;
  readonly end: number;
}

enum State {
  Preamble,
  AfterDelimiter,
  Headers,
  Content,
  Epilogue,
}

const TAB = 0x09;
const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const HEADERS_END = Buffer.from('\r\n\r\n');
/** RFC 2046 lets gateways pad a delimiter line with white space. More than this is no padding. */
const MAX_PADDING_BYTES = 128;
/** The first delimiter is here in any form but a strange one. */
const LF_SEARCH_BYTES = 64 * 1024;

/**
 * Parses a `multipart/form-data` body in place while it arrives (RFC 7578, RFC 2046). The body lies contiguous in memory, so
 * that chunk borders need no care: the parser keeps a position, and looks at undecided bytes again with the next ones, at most
 * the length of a delimiter. No content is ever copied.
 * @fastify/busboy would hand each part on as a stream of pieces, to be put together once more; this one is fuzzed instead
 * (test/api/upload/multipart-fuzz.test.ts).
 *
 * Lines end in CR LF as the RFCs have it; a bare LF is content.
 */
export class MultipartParser {
  readonly #body: Buffer;
  readonly #delimiter: Buffer;
  readonly #fileField: string;
  readonly #limits: MultipartLimits;
  readonly #parts: Part[] = [];
  #state = State.Preamble;
  /** Everything before this is settled, or searched without a match. */
  #position = 0;
  #filled = 0;
  /** The beginning of the headers or the content of the current part. */
  #start = 0;
  #current: PartHeaders | undefined;

  /**
   * @param body the memory that the body is being written to, from its first byte on
   * @param fileField name of the field whose limit is `maxFileBytes`
   */
  constructor(body: Buffer, boundary: string, fileField: string, limits: MultipartLimits) {
    this.#body = body;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#fileField = fileField;
    this.#limits = limits;
  }

  /**
   * Parses as far as the first `filled` bytes of the body allow.
   * @throws ServiceError as soon as the body breaks the format or a limit
   */
  advance(filled: number): void {
    // Bytes behind `filled` are left over from earlier requests: no search may see them.
    const arrived = this.#body.subarray(0, filled);
    this.#filled = filled;
    while (this.#step(arrived));
  }

  /**
   * The parts, in the order of the body.
   * @throws ServiceError MULTIPART_MALFORMED when the final boundary has not come
   */
  finish(): readonly Part[] {
    if (this.#state !== State.Epilogue) {
      const problem = this.#endsLinesInLf() ? 'lines must end in CRLF' : 'the final boundary is missing';
      throw new ServiceError('MULTIPART_MALFORMED', { problem });
    }
    return this.#parts;
  }

  #endsLinesInLf(): boolean {
    const start = this.#body.subarray(0, Math.min(this.#filled, LF_SEARCH_BYTES));
    return start.includes(Buffer.concat([this.#delimiter.subarray(2), Buffer.from('\n')]));
  }

  /** Returns false when more bytes are needed. */
  #step(arrived: Buffer): boolean {
    switch (this.#state) {
      case State.Preamble:
        return this.#skipPreamble(arrived);
      case State.AfterDelimiter:
        return this.#readDelimiterLine(arrived);
      case State.Headers:
        return this.#readHeaders(arrived);
      case State.Content:
        return this.#readContent(arrived);
      case State.Epilogue:
        return false;
    }
  }

  #skipPreamble(arrived: Buffer): boolean {
    if (this.#position === 0) {
      // The first delimiter needs no line break before it.
      const atStart = this.#delimiter.length - 2;
      if (arrived.length < atStart) return false;
      if (arrived.compare(this.#delimiter, 2, undefined, 0, atStart) === 0) {
        this.#position = atStart;
        this.#state = State.AfterDelimiter;
        return true;
      }
    }
    return this.#findDelimiter(arrived) !== -1;
  }

  /** Moves behind the next delimiter and returns its beginning, or moves to its first possible beginning: -1. */
  #findDelimiter(arrived: Buffer): number {
    const at = arrived.indexOf(this.#delimiter, this.#position);
    if (at === -1) {
      this.#position = Math.max(this.#position, arrived.length - this.#delimiter.length + 1);
      return -1;
    }
    this.#position = at + this.#delimiter.length;
    this.#state = State.AfterDelimiter;
    return at;
  }

  #readDelimiterLine(arrived: Buffer): boolean {
    let at = this.#position;
    if (arrived[at] === DASH) {
      if (at + 1 >= arrived.length) return false;
      if (arrived[at + 1] !== DASH) return this.#wasContent();
      this.#closePart();
      this.#state = State.Epilogue;
      return false;
    }
    while (arrived[at] === SPACE || arrived[at] === TAB) at++;
    if (at - this.#position > MAX_PADDING_BYTES) return this.#wasContent();
    if (at >= arrived.length || (arrived[at] === CR && at + 1 >= arrived.length)) return false;
    if (arrived[at] !== CR || arrived[at + 1] !== LF) return this.#wasContent();
    this.#closePart();
    if (this.#parts.length >= this.#limits.maxParts) {
      throw new ServiceError('MULTIPART_LIMIT', { problem: this.#tooManyParts() });
    }
    this.#start = at + 2;
    // From the line break on, so that an empty header block is found as well.
    this.#position = at;
    this.#state = State.Headers;
    return true;
  }

  #tooManyParts(): string {
    const counts = new Map<string, number>();
    for (const { name } of this.#parts) counts.set(name, (counts.get(name) ?? 0) + 1);
    const [[name, count] = ['', 0]] = [...counts].sort(([, a], [, b]) => b - a);
    const problem = `more than ${this.#limits.maxParts} parts`;
    if (count < 2) return problem;
    const field = escapeInvisible(JSON.stringify(name.slice(0, 100)));
    return `${problem}, ${count} of them with the name ${field}. Send a list as one field, such as [0.1, 0.2]`;
  }

  /** The boundary was only the beginning of a longer line: no delimiter (the rule that Go's mime/multipart also has). */
  #wasContent(): true {
    this.#state = this.#current === undefined ? State.Preamble : State.Content;
    return true;
  }

  #readHeaders(arrived: Buffer): boolean {
    const at = arrived.indexOf(HEADERS_END, this.#position);
    const length = (at === -1 ? arrived.length : at) - this.#start;
    if (length > this.#limits.maxHeaderBytes) {
      const problem = `part headers of more than ${this.#limits.maxHeaderBytes} bytes`;
      throw new ServiceError('MULTIPART_LIMIT', { problem });
    }
    if (at === -1) {
      this.#position = Math.max(this.#position, arrived.length - HEADERS_END.length + 1);
      return false;
    }
    this.#current = parsePartHeaders(arrived.toString('utf8', this.#start, Math.max(this.#start, at)));
    this.#start = at + HEADERS_END.length;
    // RFC 2046 lets a part without content end with the empty line: that line break is then the delimiter's own.
    this.#position = at + 2;
    this.#state = State.Content;
    return true;
  }

  #readContent(arrived: Buffer): boolean {
    const at = this.#findDelimiter(arrived);
    this.#checkContentLimit((at === -1 ? this.#position : at) - this.#start);
    return at !== -1;
  }

  #checkContentLimit(bytes: number): void {
    const { name, filename } = this.#current as PartHeaders;
    const { largeField, maxFieldBytes, otherFilesField } = this.#limits;
    const allowedBytes = name === largeField?.name ? largeField.maxBytes : maxFieldBytes;
    if (name === this.#fileField || name === otherFilesField) {
      if (bytes > this.#limits.maxFileBytes) throw this.#limits.fileTooLarge();
    } else if (bytes > allowedBytes) {
      const isMisplaced =
        filename !== undefined && !this.#parts.some((part) => part.name === this.#fileField);
      throw new ServiceError('FIELD_TOO_LARGE', {
        field: name.slice(0, 100),
        allowedBytes,
        hint: isMisplaced ? `If it is the file, send it in the field ${this.#fileField}.` : '',
      });
    }
  }

  #closePart(): void {
    if (this.#current === undefined) return;
    const end = Math.max(this.#start, this.#position - this.#delimiter.length);
    const { minFile } = this.#limits;
    if (
      minFile !== undefined &&
      this.#current.name === this.#fileField &&
      end - this.#start < minFile.bytes
    ) {
      throw minFile.tooSmall();
    }
    this.#parts.push({ ...this.#current, start: this.#start, end });
    this.#current = undefined;
  }
}
