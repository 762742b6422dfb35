// SPDX-License-Identifier: Apache-2.0
import type { Holder } from '../admission/shared-budget.js';

/** A request body on its way in. */
export interface BodyStream {
  /** From `content-encoding`; empty or absent without one. */
  readonly contentEncoding?: string;
  /** From Content-Length; undefined for a chunked transfer-encoding. */
  readonly declaredBytes: number | undefined;
  /** The holder of its upload memory. */
  readonly holder?: Holder;
  /** Aborted when the client has gone; pending work rejects with its reason. */
  readonly signal: AbortSignal;
  /**
   * Call it before the request's handler first awaits. A chunk's memory is taken back when the listener returns. After the
   * listener was told `isLast`, or `signal` was aborted, it is not called again.
   */
  onChunk(listener: (chunk: Uint8Array, isLast: boolean) => void): void;
  /**
   * Bytes kept now, beyond the allowance of each request; until the request is over.
   * @throws ServiceError OVERLOADED; nothing has changed then
   */
  keep(bytes: number): void;
  /** Stops reading from the socket; a chunk or two that were already read may still come. */
  pause(): void;
  resume(): void;
}
