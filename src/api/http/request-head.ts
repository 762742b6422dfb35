// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { HttpRequest } from './uws.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The headers read of every request. Of several values the first that is not empty; empty if absent. */
export interface RequestHead {
  readonly apiKey: string;
  readonly contentType: string;
  readonly correlationId: string;
  readonly connection: string;
  readonly expect: string;
  readonly contentEncoding: string;
  readonly prefer: string;
  /** All values of the header, one behind the other: a request has one at most. */
  readonly traceparent: string;
  /** From `content-length`, 0 without one; undefined for a chunked body. */
  readonly declaredBytes: number | undefined;
  /**
   * Why the end of the request or its host is unclear; undefined if both are clear. A proxy that reads such a request
   * differently takes part of it for the next one. uWebSockets.js uses the first of several values, and reads any coding
   * as `chunked`.
   */
  readonly framingFault: string | undefined;
}

/** In one pass, because each call of uWebSockets.js costs. Only while its handler runs. */
export function readHead(req: HttpRequest): RequestHead {
  let apiKey = '';
  let contentType = '';
  let correlationId = '';
  let connection = '';
  let expect = '';
  let contentEncoding = '';
  let prefer = '';
  let traceparent = '';
  let length = '';
  let coding = '';
  let lengths = 0;
  let codings = 0;
  let hosts = 0;
  let valueFault: string | undefined;
  req.forEach((name, value) => {
    switch (name) {
      case 'host':
        hosts++;
        break;
      case 'x-api-key':
        apiKey ||= value;
        break;
      case 'content-type':
        contentType ||= value;
        break;
      case 'x-correlation-id':
        correlationId ||= value;
        break;
      case 'connection':
        connection ||= value;
        break;
      case 'expect':
        expect ||= value;
        break;
      case 'content-encoding':
        contentEncoding ||= value;
        break;
      case 'prefer':
        prefer += `${value},`;
        break;
      case 'traceparent':
        traceparent += value;
        break;
      case 'content-length':
        lengths++;
        length ||= value;
        if (!/^\d{1,15}$/.test(value)) valueFault = 'content-length is not a number';
        break;
      case 'transfer-encoding':
        codings++;
        coding ||= value;
        if (value.toLowerCase() !== 'chunked') valueFault = 'its transfer-encoding is not chunked';
        break;
    }
  });
  return {
    apiKey,
    contentType,
    correlationId,
    connection,
    expect,
    contentEncoding,
    prefer,
    traceparent,
    declaredBytes: coding === '' ? Number(length) : undefined,
    framingFault: framingFault(lengths, codings, hosts) ?? valueFault,
  };
}

function framingFault(lengths: number, codings: number, hosts: number): string | undefined {
  if (lengths > 1) return 'it has more than one content-length';
  if (codings > 1) return 'it has more than one transfer-encoding';
  if (lengths + codings > 1) return 'it has both content-length and transfer-encoding';
  if (hosts > 1) return 'it has more than one host';
  return undefined;
}

/** The client's own id if it is a UUID. */
export const correlationIdOf = ({ correlationId: id }: RequestHead): string =>
  UUID.test(id) ? id.toLowerCase() : randomUUID();
