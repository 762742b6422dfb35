// SPDX-License-Identifier: Apache-2.0
//
// The heads of requests and answers.
import { STATUS_CODES } from 'node:http';
import type { ServiceError } from '../../base/errors/service-error.js';
import type { Headers, Reply } from '../routes/route.js';
import type { HttpRequest, HttpResponse } from './uws.js';

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

export const statusLine = (status: number): string => statusLines.get(status) as string;

/** All values of a header that may appear several times: `getHeader` gives only the first. */
export function valuesOf(req: HttpRequest, wanted: string): string {
  const values: string[] = [];
  req.forEach((name, value) => {
    if (name === wanted) values.push(value);
  });
  return values.join(',');
}

export function headersOf(req: HttpRequest): Map<string, string> {
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const earlier = headers.get(name);
    const separator = name === 'cookie' ? '; ' : ',';
    headers.set(name, earlier === undefined ? value : `${earlier}${separator}${value}`);
  });
  return headers;
}

export function errorHeaders({ key, retryAfterS }: ServiceError): Headers {
  const name = ['x-error-key', key] as const;
  return retryAfterS === undefined ? [name] : [name, ['retry-after', String(retryAfterS)]];
}

export function writeHead(
  res: HttpResponse,
  { status, contentType }: Reply,
  headers: Headers,
  closes: boolean,
): void {
  res.writeStatus(statusLine(status));
  for (const [name, value] of headers) res.writeHeader(name, value);
  if (contentType !== '') res.writeHeader('content-type', contentType);
  if (closes) res.writeHeader('connection', 'close');
}

/** The head of a connection's last answer, which bypasses uWebSockets.js. */
export const closingHeaders = (reply: Reply, headers: Headers): Headers => [
  ...headers,
  ['content-type', reply.contentType],
  ['connection', 'close'],
  ['date', new Date().toUTCString()],
];
