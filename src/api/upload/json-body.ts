// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { isJsonObject } from '../../base/json-object.js';
import type { BodyStream } from './body-stream.js';
import { refuseEncoded } from './content-encoding.js';
import { checkJsonLimits } from './json-limits.js';
import { receiveWhole, type WholeBodyLimits } from './whole-body.js';

export const isJsonType = (contentType: string): boolean => /^application\/json *(;|$)/i.test(contentType);

/** @throws ServiceError JSON_LIMIT, JSON_MALFORMED */
export function parseObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) throw new ServiceError('JSON_MALFORMED', { problem: 'it is empty.' });
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
  if (!isJsonObject(value)) {
    throw new ServiceError('JSON_MALFORMED', { problem: 'it holds another kind of value.' });
  }
  return value;
}

/**
 * Receives a body that is one JSON object. Must be called before the request's handler first awaits. Rejects with
 * ServiceError (CONTENT_TYPE_INVALID, BODY_TOO_LARGE, JSON_LIMIT, JSON_MALFORMED, RECEIVE_TIMEOUT, OVERLOADED), or with
 * the stream's abort reason.
 */
export async function receiveJson(
  stream: BodyStream,
  contentType: string,
  limits: WholeBodyLimits,
): Promise<Record<string, unknown>> {
  if (!isJsonType(contentType)) {
    const received = contentType === '' ? 'none' : contentType;
    throw new ServiceError('CONTENT_TYPE_INVALID', { expected: 'application/json', received });
  }
  refuseEncoded(stream);
  return parseObject(await receiveWhole(stream, limits));
}
