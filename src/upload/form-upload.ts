// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';
import type { ArenaRegion } from './arena.js';
import type { ArenaQueue } from './arena-queue.js';
import type { BodyStream } from './body-stream.js';
import { type MinFile, MultipartParser, type Part } from './multipart-parser.js';
import { boundaryOf } from './part-headers.js';

export interface FormLimits {
  readonly fileField: string;
  readonly maxFileBytes: number;
  readonly fileTooLarge: () => ServiceError;
  readonly minFile?: MinFile;
  /** The whole body must have arrived within this time; waiting for room in the arena does not count. */
  readonly receiveTimeoutMs: number;
}

/** A form that has arrived; its parts lie in `region` of the arena until `release` is called. */
export interface UploadedForm {
  readonly parts: readonly Part[];
  readonly region: ArenaRegion;
  readonly bodyBytes: number;
  /** Where the content of a part lies in the arena. */
  locate(part: Part): ArenaRegion;
  text(part: Part): string;
  release(): void;
}

const MAX_PARTS = 64;
const MAX_PART_HEADER_BYTES = 8 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
/** What a body may hold beside the file: boundaries, part headers, the other fields. */
export const FORM_OVERHEAD_BYTES = 512 * 1024;
/** A sender gets room in the arena once it has sent this much, so that trickling clients cannot fill it with promises. */
const STAGED_BYTES = 16 * 1024;

/**
 * Receives one form into the arena: each chunk is copied once, from the socket's buffer to its place, and parsed there.
 * Where there is no room, the socket is paused and the upload waits its turn.
 */
class FormUpload {
  readonly #stream: BodyStream;
  readonly #queue: ArenaQueue;
  readonly #limits: FormLimits;
  readonly #boundary: string;
  readonly #maxBodyBytes: number;
  readonly #resolve: (form: UploadedForm) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #settled = false;
  /** What came before there was a region. */
  #staged: Buffer[] = [];
  #receivedBytes = 0;
  #isComplete = false;
  #leaveQueue: (() => void) | undefined;
  #region: ArenaRegion | undefined;
  #body: Buffer | undefined;
  #parser: MultipartParser | undefined;

  constructor(
    stream: BodyStream,
    contentType: string,
    queue: ArenaQueue,
    limits: FormLimits,
    resolve: (form: UploadedForm) => void,
    reject: (error: unknown) => void,
  ) {
    this.#boundary = boundaryOf(contentType);
    this.#maxBodyBytes = limits.maxFileBytes + FORM_OVERHEAD_BYTES;
    const { declaredBytes = Number.NaN } = stream;
    if (declaredBytes > this.#maxBodyBytes) throw limits.fileTooLarge();
    if (limits.minFile !== undefined && declaredBytes < limits.minFile.bytes) throw limits.minFile.tooSmall();
    this.#stream = stream;
    this.#queue = queue;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    const { receiveTimeoutMs } = limits;
    this.#timer = setTimeout(
      () => this.#fail(new ServiceError('RECEIVE_TIMEOUT', { timeoutMs: receiveTimeoutMs })),
      receiveTimeoutMs,
    );
    stream.signal.addEventListener('abort', () => this.#fail(stream.signal.reason), { once: true });
    stream.onChunk((chunk, isLast) => this.#take(chunk, isLast));
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#settled) return;
    try {
      this.#isComplete = isLast;
      const before = this.#receivedBytes;
      this.#receivedBytes += chunk.length;
      if (this.#receivedBytes > this.#maxBodyBytes) throw this.#limits.fileTooLarge();
      if (this.#body === undefined && this.#leaveQueue === undefined && this.#hasSentEnough())
        this.#askForRoom();
      if (this.#body === undefined) {
        this.#staged.push(Buffer.from(chunk));
      } else {
        this.#body.set(chunk, before);
        this.#advance();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #hasSentEnough(): boolean {
    return this.#isComplete || this.#receivedBytes >= STAGED_BYTES;
  }

  #askForRoom(): void {
    const { declaredBytes } = this.#stream;
    const bytes = this.#isComplete ? this.#receivedBytes : (declaredBytes ?? this.#maxBodyBytes);
    const region = this.#queue.reserve(bytes);
    if (region !== undefined) {
      this.#occupy(region);
      return;
    }
    this.#leaveQueue = this.#queue.wait(
      bytes,
      (granted) => this.#enter(granted),
      (error) => this.#fail(error),
    );
    this.#stream.pause();
  }

  /** The queue has given us room. */
  #enter(region: ArenaRegion): void {
    this.#leaveQueue = undefined;
    try {
      this.#occupy(region);
      this.#timer.refresh();
      this.#advance();
      this.#stream.resume();
    } catch (error) {
      this.#fail(error);
    }
  }

  #occupy(region: ArenaRegion): void {
    this.#region = region;
    const body = Buffer.from(this.#queue.arena.buffer, region.offset, region.length);
    let filled = 0;
    for (const chunk of this.#staged) {
      body.set(chunk, filled);
      filled += chunk.length;
    }
    this.#staged = [];
    this.#body = body;
    this.#parser = new MultipartParser(body, this.#boundary, this.#limits.fileField, {
      maxParts: MAX_PARTS,
      maxHeaderBytes: MAX_PART_HEADER_BYTES,
      maxFieldBytes: MAX_FIELD_BYTES,
      maxFileBytes: this.#limits.maxFileBytes,
      fileTooLarge: this.#limits.fileTooLarge,
      ...(this.#limits.minFile && { minFile: this.#limits.minFile }),
    });
  }

  #advance(): void {
    const parser = this.#parser as MultipartParser;
    parser.advance(this.#receivedBytes);
    if (this.#isComplete) this.#finish(parser.finish());
  }

  #finish(parts: readonly Part[]): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    const queue = this.#queue;
    const body = this.#body as Buffer;
    // Less than was reserved only for a chunked transfer-encoding.
    const region = queue.shrink(this.#region as ArenaRegion, this.#receivedBytes);
    this.#resolve({
      parts,
      region,
      bodyBytes: this.#receivedBytes,
      locate: (part) => ({ offset: region.offset + part.start, length: part.end - part.start }),
      text: (part) => body.toString('utf8', part.start, part.end),
      release: () => queue.release(region),
    });
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#staged = [];
    this.#leaveQueue?.();
    if (this.#region !== undefined) this.#queue.release(this.#region);
    this.#reject(error);
  }
}

/**
 * Must be called before the request's handler first awaits. Whoever gets the form must release it.
 * Rejects with ServiceError, or with the stream's abort reason, as soon as the body is known to be unacceptable or gone.
 */
export function receiveForm(
  stream: BodyStream,
  contentType: string,
  queue: ArenaQueue,
  limits: FormLimits,
): Promise<UploadedForm> {
  return new Promise((resolve, reject) => {
    new FormUpload(stream, contentType, queue, limits, resolve, reject);
  });
}
