// SPDX-License-Identifier: Apache-2.0
//
// The only way to OpenTelemetry's packages: loaded if a collector is configured.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  SpanKind as Kind,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { type OutboxEvents, SpanOutbox } from './span-outbox.js';
import { parseTraceparent, type TraceContext, traceparentOf } from './trace-context.js';
import type { Facts, Span, SpanEnd, SpanKind, SpanStart, Tracing } from './tracing.js';

export interface Sampling {
  /** Share of the traces that are exported, 0..1. */
  readonly ratio: number;
  /** Of traces that begin elsewhere, their senders have decided. */
  readonly followsParent: boolean;
}

export interface OtlpSettings extends OutboxEvents {
  /** The collector's address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  readonly sampling: Sampling;
  /** Finds the collector. */
  readonly lookup: LookupFunction;
  /** Of one batch, with all attempts. */
  readonly timeoutMs?: number;
}

const EXPORT_TIMEOUT_MS = 5000;
/** For the last spans, when the process stops. */
const CLOSE_MS = 2000;

const kinds: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  consumer: Kind.CONSUMER,
  internal: Kind.INTERNAL,
};

/** Spans by OTLP over HTTP, in JSON. */
export class OtlpTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #agent: http.Agent;

  constructor(settings: OtlpSettings) {
    const {
      url,
      headers,
      serviceName,
      version,
      sampling,
      lookup,
      timeoutMs = EXPORT_TIMEOUT_MS,
      ...events
    } = settings;
    const root = new TraceIdRatioBasedSampler(sampling.ratio);
    this.#agent = agentFor(url, timeoutMs, lookup);
    const exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      timeoutMillis: timeoutMs,
      httpAgentOptions: () => this.#agent,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': serviceName,
        'service.version': version,
        'service.instance.id': randomUUID(),
        'host.name': os.hostname(),
        'process.pid': process.pid,
      }),
      sampler: sampling.followsParent ? new ParentBasedSampler({ root }) : root,
      spanProcessors: [new SpanOutbox(exporter, events)],
    });
    this.#tracer = this.#provider.getTracer('veravox', version);
  }

  begin({ name, kind, parent, link, atMs }: SpanStart): Span {
    const from = contextOf(parent);
    const context = from === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, from);
    return new OtlpSpan(this.#tracer, context, name, kind, atMs, contextOf(link));
  }

  /** Call it once. */
  async close(): Promise<void> {
    const over = new AbortController();
    const deadline = pause(CLOSE_MS, undefined, { signal: over.signal }).catch(() => {});
    // Spans that cannot be exported have been counted.
    await Promise.race([this.#provider.shutdown().catch(() => {}), deadline]);
    over.abort();
    this.#agent.destroy();
  }
}

/**
 * A connection for each attempt, which ends it in time: the exporter's own limit is one between bytes, so an answer that drips
 * would hold its place forever.
 */
function agentFor(url: string, timeoutMs: number, lookup: LookupFunction): http.Agent {
  const agent = new (url.startsWith('https:') ? https : http).Agent({ lookup });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options, callback);
    const late = (): void => void connection?.destroy(new Error(`not answered within ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    connection?.once('close', () => clearTimeout(timer));
    return connection;
  };
  return agent;
}

function contextOf(traceparent = ''): SpanContext | undefined {
  const context = parseTraceparent(traceparent);
  if (context === undefined) return undefined;
  const { traceId, spanId, isSampled } = context;
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

class OtlpSpan implements Span {
  readonly beganMs: number;
  readonly #tracer: Tracer;
  readonly #span: OtelSpan;
  readonly #context: TraceContext;
  readonly #inside: Context;

  constructor(
    tracer: Tracer,
    outside: Context,
    name: string,
    kind: SpanKind,
    beganMs = preciseNowMs(),
    link?: SpanContext,
  ) {
    this.beganMs = beganMs;
    this.#tracer = tracer;
    const links = link && [{ context: link }];
    const startTime = hrTimeOf(beganMs);
    this.#span = tracer.startSpan(name, { kind: kinds[kind], startTime, ...(links && { links }) }, outside);
    this.#inside = trace.setSpan(outside, this.#span);
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    this.#context = { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get traceparent(): string {
    return traceparentOf(this.#context);
  }

  get isSampled(): boolean {
    return this.#context.isSampled;
  }

  begin(name: string, kind: SpanKind = 'internal'): Span {
    return new OtlpSpan(this.#tracer, this.#inside, name, kind);
  }

  add(name: string, beganMs: number, endedMs: number, facts: Facts = {}): void {
    if (!this.isSampled) return;
    const startTime = hrTimeOf(beganMs);
    const span = this.#tracer.startSpan(name, { startTime, attributes: attributesOf(facts) }, this.#inside);
    span.end(hrTimeOf(Math.max(beganMs, endedMs)));
  }

  end({ name, facts = {}, problem, atMs = preciseNowMs() }: SpanEnd = {}): void {
    const span = this.#span;
    if (name !== undefined) span.updateName(name);
    span.setAttributes(attributesOf(facts));
    if (problem !== undefined) {
      span.setAttribute('error.type', problem);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(hrTimeOf(Math.max(this.beganMs, atMs)));
  }
}

let clockOffsetMs = performance.timeOrigin;
const CLOCK_TOLERANCE_MS = 5;

/** With fractions, and yet the time of day: other hosts' spans must fit, also after the clock was set. */
function preciseNowMs(): number {
  const now = Date.now();
  const precise = clockOffsetMs + performance.now();
  if (Math.abs(now - precise) <= CLOCK_TOLERANCE_MS) return precise;
  clockOffsetMs += now - precise;
  return now;
}

/** As a pair, because the SDK would take a small number for the time since the start of the process. */
function hrTimeOf(atMs: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(atMs / 1000);
  return [seconds, Math.round((atMs - 1000 * seconds) * 1e6)];
}

function attributesOf(facts: Facts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) attributes[name] = typeof value === 'object' ? [...value] : value;
  }
  return attributes;
}
