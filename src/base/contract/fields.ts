// SPDX-License-Identifier: Apache-2.0
import type { FromSchema } from 'json-schema-to-ts';

type FieldType = 'number' | 'integer' | 'string' | 'boolean' | 'array' | 'object' | 'null';

/** The JSON schema of one field; `expected` describes its valid values in error messages. */
export interface FieldSchema {
  readonly type: FieldType | readonly FieldType[];
  readonly expected: string;
  readonly description?: string;
  readonly default?: number | string;
  /** May be null, in a form an empty value or the word `null`; it counts as not given. */
  readonly nullInForm?: true;
  /** A name by `isName`, which no pattern can say in all languages. */
  readonly isName?: true;
  /** A secret: no error message repeats it. */
  readonly writeOnly?: true;
  readonly [keyword: string]: unknown;
}

export type FieldSchemas = { readonly [field: string]: FieldSchema };

/** The result of checking an object without any fields. */
export const defaultsOf = (schemas: FieldSchemas): Readonly<Record<string, number | string>> =>
  Object.fromEntries(
    Object.entries(schemas).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** The values of fields with these schemas after checking: fields with a default are always there. */
export type FieldValues<Schemas, Required extends keyof Schemas & string = never> = Readonly<
  FromSchema<{
    readonly type: 'object';
    readonly properties: Schemas extends FieldSchemas ? Schemas : never;
    readonly required: readonly Required[];
    readonly additionalProperties: false;
  }>
>;
