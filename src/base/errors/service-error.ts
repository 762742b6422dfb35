// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue, type ErrorKey } from './catalogue.js';

export type ErrorValues = Readonly<Record<string, string | number>>;

/** Texts and names of values in turn. Refusals are made thousands of times per second, of few templates. */
const partsOf = new Map<string, readonly string[]>();

function fillIn(template: string, values: ErrorValues): string {
  let parts = partsOf.get(template);
  if (parts === undefined) {
    parts = template.split(/\{(\w+)\}/);
    partsOf.set(template, parts);
  }
  let filled = '';
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    filled += i % 2 === 0 ? part : (values[part] ?? `{${part}}`);
  }
  return filled.trim();
}

/** One second if the time is unknown, which is never far off. */
const retryAfterOf = ({ retryAfterS }: CatalogueEntry): number | undefined =>
  retryAfterS === 'known' ? 1 : retryAfterS;

/** A failure with an entry in the catalogue: everything that the client is told. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly key: ErrorKey;
  readonly status: number;
  readonly code: CatalogueEntry['code'];
  /** Whole seconds: the `retryAfterS` passed to the constructor, or else the catalogue's. */
  readonly retryAfterS: number | undefined;

  constructor(key: ErrorKey, values: ErrorValues = {}, options?: ErrorOptions) {
    const entry = catalogue[key];
    // A stack trace would tell no more than the key, and capturing it is most of the cost of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(fillIn(entry.message, { retryAfterS: retryAfterOf(entry) ?? 0, ...values }), options);
    Error.stackTraceLimit = stackTraceLimit;
    this.key = key;
    this.status = entry.status;
    this.code = entry.code;
    const known = values.retryAfterS;
    this.retryAfterS = typeof known === 'number' ? known : retryAfterOf(entry);
  }
}
