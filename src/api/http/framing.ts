// SPDX-License-Identifier: Apache-2.0
import type { HttpRequest } from './uws.js';

/**
 * Why the end of the request or its host is unclear; undefined if both are clear. A proxy that reads such a request
 * differently takes part of it for the next one. uWebSockets.js uses the first of several values, and reads any coding as
 * `chunked`. Only while its handler runs.
 */
export function framingFault(req: HttpRequest): string | undefined {
  let lengths = 0;
  let codings = 0;
  let hosts = 0;
  let fault: string | undefined;
  req.forEach((name, value) => {
    if (name === 'content-length') {
      lengths++;
      if (!/^\d{1,15}$/.test(value)) fault = 'content-length is not a number';
    } else if (name === 'transfer-encoding') {
      codings++;
      if (value.toLowerCase() !== 'chunked') fault = 'its transfer-encoding is not chunked';
    } else if (name === 'host') {
      hosts++;
    }
  });
  if (lengths > 1) return 'it has more than one content-length';
  if (codings > 1) return 'it has more than one transfer-encoding';
  if (lengths + codings > 1) return 'it has both content-length and transfer-encoding';
  if (hosts > 1) return 'it has more than one host';
  return fault;
}
