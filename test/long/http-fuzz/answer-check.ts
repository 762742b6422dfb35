// SPDX-License-Identifier: Apache-2.0
import { catalogue } from '../../../src/base/errors/catalogue.js';
import type { Answer } from './answer.js';
import type { Input } from './input.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Answers of the HTTP parser before there is a request, without a body of ours: see docs/errors.md. */
const parserStatuses = [400, 431, 505];

const documented = new Set<string>();
const documentedXml = new Set<string>();
for (const { status, code, s3Code } of Object.values(catalogue)) {
  documented.add(`${status} ${code}`);
  if (s3Code !== undefined) documentedXml.add(`${status} ${s3Code}`);
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasJust = (value: Members, names: readonly string[]): boolean =>
  Object.keys(value).sort().join() === [...names].sort().join();

/** Faults of an answer, if any; derived from the contract, not from the server. */
export function problemOf(answer: Answer, input: Input): string | undefined {
  const { status, headers, body } = answer;
  const correlationId = headers.get('x-correlation-id');
  if (correlationId === undefined) {
    if (!input.isHttp && parserStatuses.includes(status)) return undefined;
    return `no x-correlation-id on ${status}: ${excerpt(body)}`;
  }
  if (!uuid.test(correlationId)) return `the x-correlation-id ${correlationId}`;
  if (input.isHttp && correlationId !== input.correlationId) {
    return `the answer of another request: sent ${input.correlationId}, received ${correlationId}`;
  }
  if (status === 500) return `500 ${excerpt(body)}`;
  if (status > 503) return `the undocumented status ${status}`;
  if ((status === 429 || status === 503) && !/^\d+$/.test(headers.get('retry-after') ?? '')) {
    return `no retry-after on ${status}`;
  }
  if (input.toHead) return undefined;
  if (status >= 400) return problemOfError(answer, correlationId, input);
  return status === 200 && input.isPrediction ? problemOfPrediction(body) : undefined;
}

const excerpt = (body: Buffer): string => JSON.stringify(body.subarray(0, 300).toString('latin1'));

function parsed(body: Buffer): Members | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function problemOfError(answer: Answer, correlationId: string, input: Input): string | undefined {
  const { status, headers, body } = answer;
  const type = headers.get('content-type') ?? '';
  if (type === 'application/xml' && !input.isApi) return problemOfXml(status, body, correlationId);
  const error = parsed(body);
  if (!type.startsWith('application/json') || error === undefined)
    return `${status} with ${type}: ${excerpt(body)}`;
  if (status === 403 && 'statusCode' in error) return problemOfForbidden(error, correlationId);
  if (!hasJust(error, ['error', 'message', 'status', 'correlation_id']))
    return `the members of ${excerpt(body)}`;
  if (error.status !== status || error.correlation_id !== correlationId)
    return `contradictions in ${excerpt(body)}`;
  if (typeof error.message !== 'string' || error.message === '') return `no message in ${excerpt(body)}`;
  return documented.has(`${status} ${error.error}`) ? undefined : `the undocumented error ${excerpt(body)}`;
}

function problemOfForbidden(error: Members, correlationId: string): string | undefined {
  const { statusCode, message } = error;
  const isRight =
    hasJust(error, ['statusCode', 'message']) &&
    statusCode === 403 &&
    isMembers(message) &&
    hasJust(message, ['detail', 'type', 'correlation_id', 'timestamp']) &&
    /\d+(\.\d+)? ?%/.test(String(message.detail)) &&
    message.type === 'forbidden_error' &&
    message.correlation_id === correlationId &&
    isoTime.test(String(message.timestamp));
  return isRight ? undefined : `the forbidden-error body ${JSON.stringify(error)}`;
}

function problemOfXml(status: number, body: Buffer, correlationId: string): string | undefined {
  const text = body.toString();
  const [, code, id] =
    /^<\?xml [^>]*\?>\n<Error><Code>(\w+)<\/Code><Message>[^<]+<\/Message><RequestId>([^<]+)<\/RequestId><\/Error>\s*$/.exec(
      text,
    ) ?? [];
  if (code === undefined || id !== correlationId) return `the XML ${JSON.stringify(text.slice(0, 300))}`;
  return documentedXml.has(`${status} ${code}`) ? undefined : `the undocumented XML error ${status} ${code}`;
}

const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

function problemOfPrediction(body: Buffer): string | undefined {
  const { global, segments, warnings, audio_duration: durationS } = parsed(body) ?? {};
  const isRight =
    isMembers(global) &&
    isShare(global.score) &&
    isShare(global.confidence) &&
    ['spoofed', 'bonafide'].includes(String(global.result)) &&
    Array.isArray(segments) &&
    segments.length > 0 &&
    segments.every(
      (segment) =>
        isMembers(segment) &&
        Array.isArray(segment.scores) &&
        segment.scores.every(isShare) &&
        isShare(segment.confidence) &&
        Number(segment.start) >= 0 &&
        Number(segment.end) > Number(segment.start) &&
        Number(segment.end) <= Number(durationS) + 1e-3,
    ) &&
    Array.isArray(warnings);
  return isRight ? undefined : `the prediction ${excerpt(body)}`;
}
