// SPDX-License-Identifier: Apache-2.0
import { type CatalogueEntry, catalogue, type ErrorKey } from './catalogue.js';

export type ErrorValues = Readonly<Record<string, string | number>>;

function fillIn(template: string, values: ErrorValues): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? `{${name}}`)).trim();
}

/** A failure with an entry in the catalogue: what a client is told, in one object. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly key: ErrorKey;
  readonly status: number;
  readonly code: CatalogueEntry['code'];
  readonly retryAfterS: number | undefined;

  constructor(key: ErrorKey, values: ErrorValues = {}, options?: ErrorOptions) {
    const entry = catalogue[key];
    super(fillIn(entry.message, { retryAfterS: entry.retryAfterS ?? 0, ...values }), options);
    this.key = key;
    this.status = entry.status;
    this.code = entry.code;
    this.retryAfterS = entry.retryAfterS;
  }
}
