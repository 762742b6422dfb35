// SPDX-License-Identifier: Apache-2.0
//
// This room receives request bodies into the upload arena, within limits of size, time and memory. It
// parses multipart forms and JSON in place.
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { ArenaIntake } from './arena-intake.js';
import type { ArenaQueue } from './arena-queue.js';
import type { BodyStream } from './body-stream.js';
import { refuseEncoded } from './content-encoding.js';
import { type LargeField, type MinFile, MultipartParser, type Part } from './multipart-parser.js';
import { boundaryOf } from './part-headers.js';

export interface FormLimits {
  readonly fileField: string;
  readonly maxFileBytes: number;
  readonly fileTooLarge: () => ServiceError;
  readonly minFile?: MinFile;
  /** Another part that may be larger than a field. */
  readonly largeField?: LargeField;
  /** A second field of files, each with at most `maxFileBytes`. */
  readonly otherFiles?: { readonly field: string; readonly maxFiles: number };
  /** Of a form with many files; by default it has room for one of the largest. */
  readonly whole?: {
    readonly maxParts: number;
    readonly maxBytes: number;
    readonly tooLarge: () => ServiceError;
  };
  /** The whole body must have arrived within this time; waiting for room in the arena does not count. */
  readonly receiveTimeoutMs: number;
}

/** A form that has arrived; its parts lie in `region` of the arena until `release` is called. */
export interface UploadedForm {
  readonly parts: readonly Part[];
  readonly region: ArenaRegion;
  readonly bodyBytes: number;
  /** The content of a part in the arena. */
  locate(part: Part): ArenaRegion;
  text(part: Part): string;
  /** Its content in place, until `release` is called. */
  bytes(part: Part): Uint8Array;
  release(): void;
}

const MAX_PARTS = 64;
const MAX_PART_HEADER_BYTES = 8 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
/** A body's bytes in addition to the file: boundaries, part headers, the other fields. */
export const FORM_OVERHEAD_BYTES = 512 * 1024;

/** Receives one form into the arena and parses it there as it comes. */
class FormUpload {
  readonly #queue: ArenaQueue;
  readonly #limits: FormLimits;
  readonly #boundary: string;
  readonly #intake: ArenaIntake;
  readonly #resolve: (form: UploadedForm) => void;
  readonly #reject: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
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
    refuseEncoded(stream);
    const { minFile } = limits;
    const { declaredBytes = Number.NaN } = stream;
    // A form this small may have no file at all, and is told so.
    if (minFile !== undefined && declaredBytes > FORM_OVERHEAD_BYTES && declaredBytes < minFile.bytes)
      throw minFile.tooSmall();
    const source = {
      declaredBytes: stream.declaredBytes,
      isCutWhenSlow: true,
      pause: () => {
        clearTimeout(this.#timer);
        stream.pause();
      },
      resume: () => {
        this.#startTimer();
        stream.resume();
      },
    };
    const intakeLimits = {
      maxBytes:
        limits.whole?.maxBytes ??
        limits.maxFileBytes + (limits.largeField?.maxBytes ?? 0) + FORM_OVERHEAD_BYTES,
      tooLarge: limits.whole?.tooLarge ?? limits.fileTooLarge,
      holder: stream.holder,
    };
    this.#intake = new ArenaIntake(source, queue, intakeLimits, {
      arrived: (region, receivedBytes) => this.#parse(region, receivedBytes),
      complete: (region) => this.#finish(region),
      failed: (error) => this.#fail(error),
    });
    this.#queue = queue;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    stream.signal.addEventListener('abort', () => this.#fail(stream.signal.reason), { once: true });
    this.#startTimer();
    stream.onChunk((chunk, isLast) => this.#take(chunk, isLast));
  }

  #startTimer(): void {
    const timeoutMs = this.#limits.receiveTimeoutMs;
    this.#timer = setTimeout(() => this.#fail(new ServiceError('RECEIVE_TIMEOUT', { timeoutMs })), timeoutMs);
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#settled) return;
    try {
      this.#intake.take(chunk, isLast);
    } catch (error) {
      this.#fail(error);
    }
  }

  #parse(region: ArenaRegion, receivedBytes: number): void {
    const { largeField, otherFiles } = this.#limits;
    this.#parser ??= new MultipartParser(this.#bytesOf(region), this.#boundary, this.#limits.fileField, {
      maxParts: this.#limits.whole?.maxParts ?? MAX_PARTS,
      maxHeaderBytes: MAX_PART_HEADER_BYTES,
      maxFieldBytes: MAX_FIELD_BYTES,
      maxFileBytes: this.#limits.maxFileBytes,
      fileTooLarge: this.#limits.fileTooLarge,
      ...(this.#limits.minFile && { minFile: this.#limits.minFile }),
      ...(largeField && { largeField }),
      ...(otherFiles && { otherFilesField: otherFiles.field }),
    });
    this.#parser.advance(receivedBytes);
  }

  #bytesOf({ offset, length }: ArenaRegion): Buffer {
    return Buffer.from(this.#queue.arena.buffer, offset, length);
  }

  #finish(region: ArenaRegion): void {
    const queue = this.#queue;
    try {
      const parts = (this.#parser as MultipartParser).finish();
      const body = this.#bytesOf(region);
      this.#settled = true;
      clearTimeout(this.#timer);
      this.#resolve({
        parts,
        region,
        bodyBytes: region.length,
        locate: (part) => ({ offset: region.offset + part.start, length: part.end - part.start }),
        bytes: (part) => body.subarray(part.start, part.end),
        text: (part) => body.toString('utf8', part.start, part.end),
        release: () => queue.release(region),
      });
    } catch (error) {
      queue.release(region);
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#intake.abandon();
    this.#reject(error);
  }
}

/**
 * Must be called before the request's handler first awaits. The caller must release the form.
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
