// SPDX-License-Identifier: Apache-2.0
//
// This room makes traces of requests and jobs. OpenTelemetry is loaded only if a collector is configured;
// without one, nothing is recorded.

/** The attributes of a span, by the names of OpenTelemetry's semantic conventions, or by `veravox.` names. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** OpenTelemetry's kinds, by the sides of a call. */
export type SpanKind = 'server' | 'client' | 'consumer' | 'internal';

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  /** A `traceparent` from elsewhere, which this span continues; an invalid one is ignored. */
  readonly parent?: string | undefined;
  /** Another one, of a trace that is not continued. */
  readonly link?: string | undefined;
  /** Milliseconds since 1970; default now. */
  readonly atMs?: number;
}

export interface SpanEnd {
  /** Replaces the name it began with. */
  readonly name?: string;
  readonly facts?: Facts;
  /** The failure, in a word; the span counts as failed. */
  readonly problem?: string | undefined;
  /** Milliseconds since 1970; default now. */
  readonly atMs?: number;
}

/** A piece of work, as a part of a trace. */
export interface Span {
  readonly traceId: string;
  /** With it, other programs continue the trace. */
  readonly traceparent: string;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  /** False if nothing of the trace is exported. */
  readonly isSampled: boolean;
  /** A part that begins now. */
  begin(name: string, kind?: SpanKind): Span;
  /** A part that is over. Times are milliseconds since 1970. */
  add(name: string, beganMs: number, endedMs: number, facts?: Facts): void;
  /** Call it once; a span that never ends is not exported. */
  end(end?: SpanEnd): void;
}

/** Makes spans and exports them. Nothing waits for the export. */
export interface Tracing {
  begin(start: SpanStart): Span;
  /** Exports the remaining spans, within a bounded time. */
  close(): Promise<void>;
}
