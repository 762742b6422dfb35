// SPDX-License-Identifier: Apache-2.0
import { GrowingBytes } from '../upload/growing-bytes.js';
import type { HttpResponse } from './uws.js';

type Listener = (chunk: Uint8Array, isLast: boolean) => void;

/** If no more than this of a body is missing, its end is awaited, or left to uWebSockets.js, which discards it. */
export const NEAR_END_BYTES = 256 * 1024;

/** uWebSockets.js hands over each chunk of a chunked body by itself: this many in any case, then one for each 64 bytes. */
const FREE_CHUNKS = 1000;
const MIN_BYTES_PER_CHUNK = 64;

const nobody: Listener = () => {};

/** The arriving body of a request, and its listener: none yet, one, or none any longer. */
export class IncomingBody {
  /** From Content-Length; undefined for a chunked transfer-encoding. */
  readonly declaredBytes: number | undefined;
  receivedBytes = 0;
  /** Its end has not arrived. */
  isPending: boolean;
  isPaused = false;
  readonly #res: HttpResponse;
  #listener = nobody;
  /** Bytes that arrived while held; undefined while it is not. */
  #held: GrowingBytes | undefined;
  #chunks = 0;
  #pausedAtMs = 0;
  #pausedMs = 0;

  constructor(res: HttpResponse, declaredBytes: number | undefined) {
    this.#res = res;
    this.declaredBytes = declaredBytes;
    this.isPending = declaredBytes !== 0;
  }

  get isEndNear(): boolean {
    return (this.declaredBytes ?? Number.POSITIVE_INFINITY) - this.receivedBytes <= NEAR_END_BYTES;
  }

  onChunk(listener: Listener): void {
    this.#listener = listener;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined && held.length > 0) listener(held.bytes, false);
    if (!this.isPending) listener(new Uint8Array(0), true);
  }

  /** Memory of the bytes kept for a listener. */
  get heldBytes(): number {
    return this.#held?.capacity ?? 0;
  }

  /** Keeps chunks for a listener that is attached a little later. */
  hold(): void {
    this.#held ??= new GrowingBytes();
  }

  /** Without a listener: discards held and later chunks. */
  dropHeld(): void {
    this.#held = undefined;
  }

  /** Discards everything from now on. */
  drop(): void {
    this.#held = undefined;
    this.#listener = nobody;
  }

  /** Its chunks are so small that they would keep everybody else waiting. */
  get hasTinyChunks(): boolean {
    return (
      this.declaredBytes === undefined &&
      this.#chunks > FREE_CHUNKS + this.receivedBytes / MIN_BYTES_PER_CHUNK
    );
  }

  count(chunk: ArrayBuffer, isLast: boolean): void {
    this.#chunks++;
    this.receivedBytes += chunk.byteLength;
    if (isLast) this.isPending = false;
  }

  deliver(chunk: ArrayBuffer, isLast: boolean): void {
    this.#held?.append(new Uint8Array(chunk));
    this.#listener(new Uint8Array(chunk), isLast);
  }

  pause(nowMs: number): void {
    if (!this.isPending || this.isPaused) return;
    this.isPaused = true;
    this.#pausedAtMs = nowMs;
    this.#res.pause();
  }

  resume(nowMs: number): void {
    if (!this.isPaused) return;
    this.#pausedMs += nowMs - this.#pausedAtMs;
    this.unblock();
  }

  /** Otherwise the rest of the connection could not be read. */
  unblock(): void {
    if (this.isPaused) this.#res.resume();
    this.isPaused = false;
  }

  /** Time since the body began to arrive, without pauses of our reading; 0 while we pause. */
  receivingMs(nowMs: number): number {
    return !this.isPending || this.isPaused ? 0 : nowMs - this.#pausedMs;
  }

  /**
   * uWebSockets.js cuts off bodies slower than 16 KB/s over 10 s, without an answer, and clients that read nothing for 10 s.
   * Its clock also runs while the body is paused: for a slow disk, or for room. Pausing or resuming a socket restarts the clock,
   * so that our own, configurable limit decides and answers 408. Call it every few seconds. Only a paused socket may be
   * resumed: on any other, `resume` ends all reading.
   */
  keepReceiving(): void {
    this.#res.pause();
    if (!this.isPaused) this.#res.resume();
  }
}
