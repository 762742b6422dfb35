// SPDX-License-Identifier: Apache-2.0
import type { HttpResponse } from './uws.js';

export interface PieceLimits {
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The client did not read a piece of an answer in time. */
export class ClientStalled extends Error {
  override readonly name = 'ClientStalled';
}

/**
 * Sends one piece of a body of `totalBytes`. Resolves when the system has taken all of it, so that its memory can be
 * reused, or when the client has gone. uWebSockets.js buffers nothing that the socket does not take: it reports how far
 * it came, and the rest is offered again when there is room.
 * @param writeHead for the first piece
 */
export function sendPiece(
  res: HttpResponse,
  piece: Uint8Array,
  totalBytes: number,
  writeHead: (() => void) | undefined,
  { signal, timeoutMs }: PieceLimits,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isPending = true;
    const settle = (error?: Error): void => {
      isPending = false;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => settle();
    res.cork(() => {
      writeHead?.();
      const start = res.getWriteOffset();
      const offer = (offset: number): boolean => {
        const [isTaken] = res.tryEnd(piece.subarray(offset - start), totalBytes);
        if (isTaken) settle();
        return isTaken;
      };
      if (offer(start)) return;
      signal.addEventListener('abort', onAbort);
      timer = setTimeout(() => settle(new ClientStalled()), timeoutMs);
      res.onWritable((offset) => !isPending || offer(offset));
    });
  });
}
