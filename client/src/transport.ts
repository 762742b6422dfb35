// SPDX-License-Identifier: Apache-2.0
import type { RequestBody } from './body.js';
import { errorOf, type VeravoxError } from './error.js';
import { isPage, uploadFromPage } from './page-upload.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the whole call, with its retries; default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** How often an answer of 429 or 503 is tried again; default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Called with the headers of a successful answer, such as `x-model-ids`. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** The longest first pause before a retry; each further one may be twice as long. */
  readonly backoffMs: number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** The code of a refusal without one of the service's error bodies. */
  readonly fallbackCode?: 'storage_error';
}

const RETRIED_STATUSES: readonly number[] = [429, 503];
const MAX_BACKOFF_MS = 30_000;

/** Without read-ahead, so that pulled bytes are bytes that the network took. */
function readableOf(iterator: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** One try. A stream is let go of when it is over, however it ends: `fetch` leaves it open after an early answer. */
async function attempt(
  fetch: TransportOptions['fetch'],
  { method, url, headers, body }: Call,
  signal: AbortSignal,
): Promise<Response> {
  if (body === undefined) return fetch(url, { method, headers: { ...headers }, signal });
  if (isPage && body.whole !== undefined) {
    const { whole } = body;
    return uploadFromPage({
      method,
      url,
      headers: { ...headers, 'content-type': body.contentType },
      body: await whole.asBlob(),
      signal,
      onSent: (sentBytes) => whole.onSent(sentBytes),
    });
  }
  const length = body.sizeBytes === undefined ? {} : { 'content-length': String(body.sizeBytes) };
  const allHeaders = { ...headers, 'content-type': body.contentType, ...length };
  const content = body.open();
  if (typeof content === 'string') return fetch(url, { method, headers: allHeaders, body: content, signal });
  const iterator = content[Symbol.asyncIterator]();
  try {
    // Fetch wants to be told that the answer is not to be read while the request is still being sent.
    const stream = readableOf(iterator);
    return await fetch(url, { method, headers: allHeaders, body: stream, duplex: 'half', signal });
  } finally {
    // Not awaited: a generator that waits for more cannot be closed before it goes on.
    iterator.return?.().catch(() => {});
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Sends requests, and sends them again if the server asks for it. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * @returns an answer with a status of success
   * @throws VeravoxError for any other; the error of `fetch` when there is no answer
   */
  async send(call: Call, options: CallOptions): Promise<Response> {
    const { timeoutMs = this.#options.timeoutMs, maxRetries = this.#options.maxRetries } = options;
    const endsAt = performance.now() + timeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
    for (let retries = 0; ; retries++) {
      const response = await attempt(this.#options.fetch, call, signal);
      if (response.ok) {
        options.onHeaders?.(response.headers);
        return response;
      }
      const error = await errorOf(response, call.fallbackCode ?? 'unexpected_answer');
      const isRetried = RETRIED_STATUSES.includes(error.status) && call.body?.isReplayable !== false;
      const waitMs = this.#waitMs(error, retries);
      if (!isRetried || retries >= maxRetries || performance.now() + waitMs > endsAt) throw error;
      await pause(waitMs, signal);
    }
  }

  /** Back-off with full jitter, so that refused clients do not come back all at once; never earlier than asked for. */
  #waitMs({ retryAfterS = 0 }: VeravoxError, retries: number): number {
    const longestMs = Math.min(MAX_BACKOFF_MS, this.#options.backoffMs * 2 ** retries);
    return retryAfterS * 1000 + Math.random() * longestMs;
  }
}
