// SPDX-License-Identifier: Apache-2.0
//
// Parts of a JSON Schema that carry the type of the values they describe, so that the one declaration gives both.
import type { Interval } from '../../base/proportion.js';

declare const value: unique symbol;

export interface Schema<Value> {
  readonly description: string;
  /** Never set: the compiler keeps the type here. */
  readonly [value]?: Value;
}

/** The type that a schema describes. */
export type ValueOf<Described> = Described extends Schema<infer Value> ? Value : never;

const of =
  <Value>(rules: object) =>
  (description: string): Schema<Value> => ({ ...rules, description });

export const text = of<string>({ type: 'string' });
export const time = of<string>({ type: 'string', format: 'date-time' });
export const number = of<number>({ type: 'number' });
export const share = of<number>({ type: 'number', minimum: 0, maximum: 1 });
export const count = of<number>({ type: 'integer', minimum: 0 });
export const texts = of<readonly string[]>({ type: 'array', items: { type: 'string' } });
export const integers = of<readonly number[]>({ type: 'array', items: { type: 'integer' } });
export const interval = of<Interval>({
  type: 'array',
  items: { type: 'number', minimum: 0, maximum: 1 },
  minItems: 2,
  maxItems: 2,
});

export const differenceInterval = of<Interval>({
  type: 'array',
  items: { type: 'number', minimum: -1, maximum: 1 },
  minItems: 2,
  maxItems: 2,
});

export const constant = <const Value>(only: Value, description: string): Schema<Value> =>
  of<Value>({ const: only })(description);

export const oneOf = <const Value>(values: readonly Value[], description: string): Schema<Value> =>
  of<Value>({ enum: values })(description);

/** Every member is required, and there are no others. */
export const object = <const Members extends Readonly<Record<string, Schema<unknown>>>>(
  description: string,
  properties: Members,
): Schema<{ readonly [Name in keyof Members]: ValueOf<Members[Name]> }> =>
  of({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false })(
    description,
  ) as Schema<{
    readonly [Name in keyof Members]: ValueOf<Members[Name]>;
  }>;

export const list = <Value>(description: string, items: Schema<Value>): Schema<readonly Value[]> =>
  of<readonly Value[]>({ type: 'array', items })(description);

export const orNull = <Value>(schema: Schema<Value>): Schema<Value | null> =>
  of<Value | null>({ anyOf: [schema, { type: 'null' }] })(schema.description);
