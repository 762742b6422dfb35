// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { BodyStream } from './body-stream.js';
import { refuseEncoded } from './content-encoding.js';
import { GrowingBytes } from './growing-bytes.js';
import { checkJsonLimits } from './json-limits.js';

export interface JsonLimits {
  readonly maxBytes: number;
  readonly receiveTimeoutMs: number;
}

/** Of a body, whatever else is in memory: small ones are never refused for lack of it. */
const FREE_BYTES = 16 * 1024;

export const isJsonType = (contentType: string): boolean => /^application\/json *(;|$)/i.test(contentType);

/** @throws ServiceError JSON_LIMIT, JSON_MALFORMED */
export function parseObject(bytes: Buffer): Record<string, unknown> {
  checkJsonLimits(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError('JSON_MALFORMED', { problem: 'it is not UTF-8.' });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // No more of V8's message than this: it quotes the body, which may hold the signature of a link.
    const [position] = / at position \d{1,9}/.exec((error as Error).message) ?? [''];
    throw new ServiceError('JSON_MALFORMED', { problem: `it cannot be parsed${position}.` });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('JSON_MALFORMED', { problem: 'it holds another kind of value.' });
  }
  return value as Record<string, unknown>;
}

/**
 * Receives a body that is one JSON object. Must be called before the request's handler first awaits. Rejects with
 * ServiceError (CONTENT_TYPE_INVALID, BODY_TOO_LARGE, JSON_LIMIT, JSON_MALFORMED, RECEIVE_TIMEOUT, OVERLOADED), or with
 * the stream's abort reason.
 */
export function receiveJson(
  stream: BodyStream,
  contentType: string,
  { maxBytes, receiveTimeoutMs }: JsonLimits,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    if (!isJsonType(contentType)) {
      const received = contentType === '' ? 'none' : contentType;
      throw new ServiceError('CONTENT_TYPE_INVALID', { expected: 'application/json', received });
    }
    refuseEncoded(stream);
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
        if (!isLast) return;
        const value = parseObject(received.bytes);
        settle(() => resolve(value));
      } catch (error) {
        fail(error);
      }
    });
  });
}
