// SPDX-License-Identifier: Apache-2.0
import type { Facts, Span } from '../tracing/tracing.js';
import type { RequestRecord } from './request-record.js';

/** Others would let clients make up names of spans. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Ends the span of a request, whose parts are its stages. Their lengths were measured; their places follow from the order of
 * the stages, and the scores come last.
 */
export function endRequestSpan(span: Span, record: RequestRecord): void {
  const endMs = span.beganMs + record.totalMs;
  if (span.isSampled) addStages(span, record, endMs);
  const { method, route, status, errorKey } = record;
  const isStream = method === 'STREAM';
  span.end({
    atMs: endMs,
    name: isStream || !methods.has(method) ? route : `${method} ${route}`,
    facts: span.isSampled ? factsOf(record) : {},
    // The convention for servers: a client's fault is no failure.
    problem: status >= 500 ? (errorKey ?? String(status)) : undefined,
  });
}

/** No addresses, names of files, links, and of keys the id. */
function factsOf(record: RequestRecord): Facts {
  const { method, route, status } = record;
  // The route ends at names of files and ids.
  const isWhole = route !== 'other' && !route.endsWith('/');
  const http =
    method === 'STREAM'
      ? {}
      : {
          'http.request.method': methods.has(method) ? method : '_OTHER',
          'http.route': route === 'other' ? undefined : route,
          'http.response.status_code': status,
          'http.request.body.size': record.bodyBytes,
          'url.path': isWhole ? route : undefined,
        };
  return {
    ...http,
    'veravox.correlation_id': record.correlationId,
    'veravox.error_key': record.errorKey,
    'veravox.key_id': record.keyId,
    'veravox.account': record.account,
    'veravox.model': record.model,
    'veravox.model_ids': record.modelIds,
    'veravox.audio_s': record.audioS,
    'veravox.scored_windows': record.scoredWindows,
  };
}

function addStages(span: Span, { stagesMs, fetch, method }: RequestRecord, endMs: number): void {
  // A stream's stages are spread over all of it.
  if (method === 'STREAM') return;
  const { receive, queue, decode, features, inference } = stagesMs;
  let atMs = span.beganMs;
  const add = (name: string, lengthMs: number | undefined): void => {
    if (lengthMs === undefined) return;
    const untilMs = Math.min(endMs, atMs + lengthMs);
    span.add(name, atMs, untilMs);
    atMs = untilMs;
  };
  if (fetch === undefined) add('receive', receive);
  else atMs += receive ?? 0;
  add('queue', queue);
  add('decode', decode);
  add('features', features);
  if (inference !== undefined) span.add('score', Math.max(span.beganMs, endMs - inference), endMs);
}
