// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { BodyStream } from './body-stream.js';
import { GrowingBytes } from './growing-bytes.js';

export interface WholeBodyLimits {
  readonly maxBytes: number;
  readonly receiveTimeoutMs: number;
}

/** Of a body, whatever else is in memory: small ones are never refused for lack of it. */
const FREE_BYTES = 16 * 1024;

/**
 * Receives a body that is kept whole. Must be called before the request's handler first awaits, or after `holdBody`. Rejects with
 * ServiceError (BODY_TOO_LARGE, RECEIVE_TIMEOUT, OVERLOADED), or with the stream's abort reason.
 */
export function receiveWhole(
  stream: BodyStream,
  { maxBytes, receiveTimeoutMs }: WholeBodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Its event is over if the client has gone before.
    stream.signal.throwIfAborted();
    const received = new GrowingBytes();
    let settled = false;
    const settle = (end: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      end();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const timer = setTimeout(
      () => fail(new ServiceError('RECEIVE_TIMEOUT', { timeoutMs: receiveTimeoutMs })),
      receiveTimeoutMs,
    );
    stream.signal.addEventListener('abort', () => fail(stream.signal.reason), { once: true });
    stream.onChunk((chunk, isLast) => {
      if (settled) return;
      if (Math.max(received.length + chunk.length, stream.declaredBytes ?? 0) > maxBytes) {
        fail(new ServiceError('BODY_TOO_LARGE', { allowedBytes: maxBytes }));
        return;
      }
      try {
        received.append(chunk);
        stream.keep(Math.max(0, received.capacity - FREE_BYTES));
        if (isLast) settle(() => resolve(received.bytes));
      } catch (error) {
        fail(error);
      }
    });
  });
}
