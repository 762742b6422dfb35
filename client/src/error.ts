// SPDX-License-Identifier: Apache-2.0
import type { ErrorBody, ForbiddenErrorBody } from './types.js';

/**
 * The server's machine-readable codes, and two of the client's own: `storage_error` when object storage refuses a link,
 * `unexpected_answer` when something answers that is no veravox server, such as a proxy.
 */
export type ErrorCode =
  | ErrorBody['error']
  | ForbiddenErrorBody['message']['type']
  | 'storage_error'
  | 'unexpected_answer';

type Facts = Pick<VeravoxError, 'code' | 'status' | 'errorKey' | 'correlationId' | 'retryAfterS'>;

/** An answer that is no success. A connection that fails, an abort and a time-out come as `fetch` reports them. */
export class VeravoxError extends Error {
  override readonly name = 'VeravoxError';
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The line of docs/errors.md that says more than the code, such as `AUDIO_TOO_SHORT`. */
  readonly errorKey: string | undefined;
  /** Names the request in the server's log. */
  readonly correlationId: string | undefined;
  /** Seconds after which another try makes sense, if the server says so. */
  readonly retryAfterS: number | undefined;

  constructor(message: string, facts: Facts) {
    super(message);
    this.code = facts.code;
    this.status = facts.status;
    this.errorKey = facts.errorKey;
    this.correlationId = facts.correlationId;
    this.retryAfterS = facts.retryAfterS;
  }
}

const MAX_SHOWN_CHARS = 300;

function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function parsed(text: string): { readonly error?: unknown; readonly message?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** @param fallback the code of an answer that has none of the service's error bodies */
export async function errorOf(
  response: Response,
  fallback: 'storage_error' | 'unexpected_answer',
): Promise<VeravoxError> {
  return errorIn(response, await response.text(), fallback);
}

/** @throws VeravoxError for another answer than JSON */
export async function jsonOf<Result>(response: Response): Promise<Result> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Result;
  } catch {
    throw errorIn(response, text, 'unexpected_answer');
  }
}

function errorIn(
  { status, statusText, headers }: Response,
  text: string,
  fallback: 'storage_error' | 'unexpected_answer',
): VeravoxError {
  const body = parsed(text);
  const facts = {
    status,
    errorKey: headers.get('x-error-key') ?? undefined,
    correlationId: headers.get('x-correlation-id') ?? undefined,
    retryAfterS: retryAfterOf(headers),
  };
  if (typeof body.error === 'string' && typeof body.message === 'string') {
    return new VeravoxError(body.message, { ...facts, code: body.error as ErrorCode });
  }
  const inner = body.message as Partial<ForbiddenErrorBody['message']> | undefined;
  if (typeof inner?.detail === 'string' && typeof inner.type === 'string') {
    return new VeravoxError(inner.detail, { ...facts, code: inner.type });
  }
  // S3's XML says it in one of its elements.
  const shown = /<Message>([^<]*)/.exec(text)?.[1] ?? text.slice(0, MAX_SHOWN_CHARS);
  return new VeravoxError(`${status} ${statusText} ${shown}`.trim(), { ...facts, code: fallback });
}
