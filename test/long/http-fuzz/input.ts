// SPDX-License-Identifier: Apache-2.0

export const kinds = ['media', 'form', 'json', 'query', 'link', 'raw', 'abort'] as const;
export type Kind = (typeof kinds)[number];

/** An input's bytes, and its possible answers. */
export interface Input {
  readonly kind: Kind;
  /** Description in a finding. */
  readonly what: string;
  readonly bytes: Buffer;
  /** Framed as HTTP requires, with our correlation id: exactly one answer with that id must come. */
  readonly isHttp: boolean;
  readonly correlationId: string;
  readonly toHead?: boolean;
  readonly breaksOffAfter?: number;
  /** A 200 answer is a prediction of v1. */
  readonly isPrediction?: boolean;
  /** Errors are JSON; links answer with XML. */
  readonly isApi: boolean;
}

/** Values of the running server, for inputs. */
export interface Surroundings {
  readonly host: string;
  readonly apiKey: string;
  /** A JSON array of 256 numbers. */
  readonly voiceVector: string;
  readonly uploadLink: string;
  readonly downloadLink: string;
}

/** Identifies the request of an answer. */
export function correlationIdOf(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

export type HeaderLine = readonly [name: string, value: string];

export function head(method: string, target: string, headers: readonly HeaderLine[]): string {
  return `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
