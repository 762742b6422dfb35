// SPDX-License-Identifier: Apache-2.0
import type { HttpResponse } from './uws.js';

export interface PieceLimits {
  /** Aborted when the client has gone; sending fails with its reason. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The client did not read a piece of an answer in time. */
export class ClientStalled extends Error {
  override readonly name = 'ClientStalled';
}

/**
 * Sends one piece of a body of `totalBytes`. Resolves when the system has taken all of it, so that its memory can be
 * reused. uWebSockets.js buffers nothing that the socket does not take: it reports how far it came, and the rest is
 * offered again when there is room.
 * @param writeHead for the first piece
 */
export function sendPiece(
  res: HttpResponse,
  piece: Uint8Array,
  totalBytes: number,
  writeHead: (() => void) | undefined,
  limits: PieceLimits,
): Promise<void> {
  return untilTaken(limits, (taken) => {
    let isPending = true;
    res.cork(() => {
      writeHead?.();
      const start = res.getWriteOffset();
      const offer = (offset: number): boolean => {
        const [isTaken] = res.tryEnd(piece.subarray(offset - start), totalBytes);
        if (isTaken) {
          isPending = false;
          taken();
        }
        return isTaken;
      };
      if (!offer(start)) res.onWritable((offset) => !isPending || limits.signal.aborted || offer(offset));
    });
    return !isPending;
  });
}

/**
 * The same for a text of a body of unknown length. uWebSockets.js buffers the part that the socket does not take, so there must
 * be no next one before this resolves.
 */
export function sendText(
  res: HttpResponse,
  text: string,
  writeHead: (() => void) | undefined,
  limits: PieceLimits,
): Promise<void> {
  return untilTaken(limits, (taken) => {
    let isTaken = true;
    res.cork(() => {
      writeHead?.();
      isTaken = res.write(text);
    });
    if (isTaken) {
      taken();
    } else {
      res.onWritable(() => {
        taken();
        return true;
      });
    }
    return isTaken;
  });
}

/**
 * Resolves when the system has taken the piece.
 * @param send returns whether that was so at once; otherwise calls `taken` later
 */
function untilTaken({ signal, timeoutMs }: PieceLimits, send: (taken: () => void) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => settle(signal.reason);
    if (send(() => settle())) return;
    signal.addEventListener('abort', onAbort);
    timer = setTimeout(() => settle(new ClientStalled()), timeoutMs);
  });
}
