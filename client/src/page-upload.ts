// SPDX-License-Identifier: Apache-2.0

/** The used part of a browser's XMLHttpRequest. */
interface PageRequest {
  responseType: string;
  readonly status: number;
  readonly statusText: string;
  readonly response: unknown;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob): void;
  abort(): void;
}

export interface PageUpload {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly signal: AbortSignal;
  onSent(sentBytes: number): void;
}

const pageRequest = (globalThis as { readonly XMLHttpRequest?: new () => PageRequest }).XMLHttpRequest;

/** Whether this is a web page or a worker of one. */
export const isPage = pageRequest !== undefined;

/** Statuses whose answers have no body, not even an empty one. */
const BODILESS = [204, 205, 304];

function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/**
 * Sends a file from a web page: `fetch` streams there over HTTP/2 only, and reports no progress.
 * @throws TypeError if there is no answer, as `fetch` does; the signal's reason
 */
export function uploadFromPage({
  method,
  url,
  headers,
  body,
  signal,
  onSent,
}: PageUpload): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    if (pageRequest === undefined) throw new TypeError('Expected a web page.');
    const request = new pageRequest();
    const abort = (): void => request.abort();
    const end = (settle: () => void) => (): void => {
      signal.removeEventListener('abort', abort);
      settle();
    };
    request.open(method, url);
    request.responseType = 'arraybuffer';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = end(() => {
      const { status, statusText } = request;
      const content = BODILESS.includes(status) ? null : (request.response as ArrayBuffer);
      resolve(
        new Response(content, { status, statusText, headers: headersOf(request.getAllResponseHeaders()) }),
      );
    });
    request.onerror = end(() => reject(new TypeError('The server cannot be reached.')));
    request.onabort = end(() => reject(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    request.send(body);
  });
}
