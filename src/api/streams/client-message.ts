// SPDX-License-Identifier: Apache-2.0
import { Ajv } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import { endMessage, type ResumeMessage, resumeMessage } from '../../base/contract/stream.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { once } from '../../base/once.js';
import { parseObject } from '../upload/json-body.js';

/** A client's message, other than audio. */
export type ClientMessage =
  | { readonly type: 'start'; readonly parameters: Record<string, unknown> }
  | ResumeMessage
  | { readonly type: 'end' };

/** Compiled for the first stream, not at start. */
const checks = once(() => {
  const ajv = new Ajv(ownSchemas);
  return { isResume: ajv.compile<ResumeMessage>(resumeMessage), isEnd: ajv.compile(endMessage) };
});

const MAX_SHOWN_CHARS = 40;

export const invalid = (problem: string): ServiceError =>
  new ServiceError('STREAM_MESSAGE_INVALID', { problem });

/** @throws ServiceError STREAM_MESSAGE_INVALID, JSON_LIMIT, JSON_MALFORMED */
export function clientMessage(text: Uint8Array): ClientMessage {
  const { type, ...rest } = parseObject(Buffer.from(text));
  const message = { type, ...rest };
  if (type === 'start') return { type, parameters: rest };
  if (type === 'resume') {
    const { isResume } = checks();
    if (isResume(message)) return message;
    throw invalid('resume takes session_id, secret and events, and nothing else');
  }
  if (type === 'end') {
    if (checks().isEnd(message)) return { type };
    throw invalid('end takes nothing else');
  }
  const shown = JSON.stringify(type)?.slice(0, MAX_SHOWN_CHARS) ?? 'no type';
  throw invalid(`expected the type start, resume or end but received ${shown}`);
}
