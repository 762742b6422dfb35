// SPDX-License-Identifier: Apache-2.0
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';

/** A JSON Schema. One with a `title` is documented once, under that name. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

type Immutable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
  : Value;

/** The type of a body with this schema. */
export type BodyOf<Body> = Immutable<FromSchema<Body extends JSONSchema ? Body : never>>;
