// SPDX-License-Identifier: Apache-2.0

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Bytes that an HTTP/1.1 server must not send. */
export class NotHttp extends Error {
  override readonly name = 'NotHttp';
}

const headEnd = '\r\n\r\n';
const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) ?[ -~]*$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~]*)$/;

/**
 * Reads the first answer in `received`; undefined while it is incomplete. Strict on purpose: the tolerance of clients
 * would hide mistakes.
 * @param toHead the request was `HEAD`, whose answer has no body
 * @param isEnd nothing follows
 * @throws NotHttp
 */
export function readAnswer(
  received: Buffer,
  toHead: boolean,
  isEnd: boolean,
): { answer: Answer; bytes: number } | undefined {
  const end = received.indexOf(headEnd);
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new NotHttp(`a status line of ${JSON.stringify(first)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) throw new NotHttp(`a header line of ${JSON.stringify(line)}`);
    const key = name.toLowerCase();
    if (key === 'content-length' && headers.has(key)) throw new NotHttp('two content-lengths');
    headers.set(key, value.trim());
  }
  const start = end + headEnd.length;
  // An interim answer: the real one follows.
  if (status < 200) {
    const next = readAnswer(received.subarray(start), toHead, isEnd);
    return next && { answer: next.answer, bytes: start + next.bytes };
  }
  const hasBody = !toHead && status !== 204 && status !== 304;
  const length = headers.get('content-length');
  if (length !== undefined && !/^\d+$/.test(length)) throw new NotHttp(`a content-length of ${length}`);
  if (hasBody && length === undefined) {
    if (headers.get('connection')?.toLowerCase() !== 'close') throw new NotHttp('no content-length');
    const answer = { status, headers, body: received.subarray(start) };
    return isEnd ? { answer, bytes: received.length } : undefined;
  }
  const bytes = start + (hasBody ? Number(length) : 0);
  if (received.length < bytes) return undefined;
  return { answer: { status, headers, body: received.subarray(start, bytes) }, bytes };
}
