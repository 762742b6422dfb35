// SPDX-License-Identifier: Apache-2.0
import type { FromSchema } from 'json-schema-to-ts';

type FieldType = 'number' | 'string' | 'array';

/** The JSON schema of one field; `expected` describes its valid values in error messages. */
export interface FieldSchema {
  readonly type: FieldType | readonly FieldType[];
  readonly expected: string;
  readonly description?: string;
  readonly default?: number | string;
  /** May be null, in a form an empty value or the word `null`; it counts as not given. */
  readonly nullInForm?: true;
  readonly [keyword: string]: unknown;
}

export type FieldSchemas = { readonly [field: string]: FieldSchema };

/** The values of fields with these schemas after checking: those with a default are always there. */
export type FieldValues<Schemas, Required extends keyof Schemas & string = never> = Readonly<
  FromSchema<{
    readonly type: 'object';
    readonly properties: Schemas extends FieldSchemas ? Schemas : never;
    readonly required: readonly Required[];
    readonly additionalProperties: false;
  }>
>;
