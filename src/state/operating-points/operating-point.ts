// SPDX-License-Identifier: Apache-2.0
import { OPERATING_POINT_NAME } from '../../base/contract/operating-point-name.js';

/** Wrong judgements when the point was found; see docs/evaluate.md. */
export interface MeasuredErrors {
  readonly count: number;
  readonly of: number;
  readonly value: number;
  readonly interval_95: readonly [low: number, high: number];
}

/** A threshold of one model under a name. */
export interface OperatingPoint {
  readonly name: string;
  /** The model's id, never an alias. */
  readonly model: string;
  /** Of the model's file; for readers of the JSON. */
  readonly model_sha256: string;
  /** Of everything that a score depends on: the point holds for no other. */
  readonly fingerprint: string;
  /** 0..1 */
  readonly threshold: number;
  readonly target: { readonly rate: 'fpr' | 'fnr'; readonly value: number };
  /** Null if the list had none of that class. */
  readonly measured: { readonly fpr: MeasuredErrors | null; readonly fnr: MeasuredErrors | null };
  readonly list: string;
  readonly where: readonly string[];
  /** Percent; null for a speaker model, and if scores were read. */
  readonly silence_threshold: number | null;
  readonly created_at: string;
}

/** The model of a point. */
export interface ScoringModel {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly sha256: string;
  readonly scoreFingerprint: string;
}

const share = { type: 'number', minimum: 0, maximum: 1 } as const;
const text = { type: 'string', minLength: 1 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const count = { type: 'integer', minimum: 0 } as const;

const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const orNull = (schema: object) => ({ anyOf: [{ type: 'null' }, schema] });

const measured = orNull(
  object({
    count,
    of: count,
    value: share,
    interval_95: { type: 'array', items: share, minItems: 2, maxItems: 2 },
  }),
);

/** JSON Schema (draft 7) of a point. */
export const operatingPointSchema = object({
  name: { type: 'string', pattern: OPERATING_POINT_NAME.source },
  model: text,
  model_sha256: sha256,
  fingerprint: sha256,
  threshold: share,
  target: object({ rate: { enum: ['fpr', 'fnr'] }, value: share }),
  measured: object({ fpr: measured, fnr: measured }),
  list: text,
  where: { type: 'array', items: { type: 'string' } },
  silence_threshold: orNull({ type: 'number', minimum: 0, maximum: 100 }),
  created_at: text,
});
