// SPDX-License-Identifier: Apache-2.0
//
// A collector of OpenTelemetry's OTLP over HTTP, as far as tests need one: it reads the JSON encoding by the specification.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.js';

type Value = { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean } & {
  arrayValue?: { values: Value[] };
};
type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly status?: { readonly code?: number };
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer' | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
  readonly links: readonly string[];
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  readonly requests: {
    readonly path: string;
    readonly headers: http.IncomingHttpHeaders;
    readonly body: string;
  }[];
  /** The only span of this name, when it has arrived. */
  named(name: string): Promise<CollectedSpan>;
  /** Parts of a span, by name. */
  partsOf(span: CollectedSpan): readonly CollectedSpan[];
}

const kinds = [undefined, 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const ERROR = 2;

/** @param answer status for a request whose spans were noted; default 200 */
export async function startCollector(
  test: Pick<TestContext, 'after'>,
  answer: (response: http.ServerResponse) => void = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: Collector['requests'] = [];
  const server = http.createServer(async (incoming, response) => {
    const body = await text(incoming);
    requests.push({ path: incoming.url ?? '', headers: incoming.headers, body });
    spans.push(...spansOf(JSON.parse(body) as Body));
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    async named(name) {
      await eventually(() => spans.some((span) => span.name === name), `the span ${name} arrives`);
      const [found, ...others] = spans.filter((span) => span.name === name);
      if (found === undefined || others.length > 0) throw new Error(`There are several spans ${name}.`);
      return found;
    },
    partsOf: ({ traceId, spanId }) =>
      spans.filter((span) => span.traceId === traceId && span.parentId === spanId),
  };
}

function spansOf({ resourceSpans }: Body): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: span.parentSpanId ?? '',
        name: span.name,
        kind: kinds[span.kind],
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: recordOf(span.attributes),
        hasFailed: span.status?.code === ERROR,
        links: (span.links ?? []).map((link) => `${link.traceId} ${link.spanId}`),
        resource: recordOf(resource.attributes),
      })),
    ),
  );
}

const recordOf = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));

function plainValue({ arrayValue, ...value }: Value): unknown {
  return arrayValue === undefined ? Object.values(value)[0] : arrayValue.values.map(plainValue);
}
