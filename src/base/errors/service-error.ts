// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue, type ErrorKey } from './catalogue.js';

export type ErrorValues = Readonly<Record<string, string | number>>;

function fillIn(template: string, values: ErrorValues): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? `{${name}}`)).trim();
}

/** Where nobody said how long: a second, which is never wrong by much. */
const retryAfterOf = ({ retryAfterS }: CatalogueEntry): number | undefined =>
  retryAfterS === 'known' ? 1 : retryAfterS;

/** A failure with an entry in the catalogue: what a client is told, in one object. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly key: ErrorKey;
  readonly status: number;
  readonly code: CatalogueEntry['code'];
  /** The value `retryAfterS` that it was made with, or the catalogue's; whole seconds. */
  readonly retryAfterS: number | undefined;

  constructor(key: ErrorKey, values: ErrorValues = {}, options?: ErrorOptions) {
    const entry = catalogue[key];
    // Where it was thrown says nothing that its key does not, and finding that out would be most of what a refusal costs.
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
