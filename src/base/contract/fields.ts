// SPDX-License-Identifier: Apache-2.0
import type { FromSchema } from 'json-schema-to-ts';

type FieldType = 'number' | 'string' | 'array';

/** The JSON schema of one field; `expected` is how an error names what it wants. */
export interface FieldSchema {
  readonly type: FieldType | readonly FieldType[];
  readonly expected: string;
  readonly description?: string;
  readonly default?: number | string;
  /** May be null, which in a form is an empty value or the word; it counts as not given. */
  readonly nullInForm?: true;
  readonly [keyword: string]: unknown;
}

export type FieldSchemas = { readonly [field: string]: FieldSchema };

/** What fields with these schemas hold once they are checked: those with a default are always there. */
export type FieldValues<Schemas, Required extends keyof Schemas & string = never> = Readonly<
  FromSchema<{
    readonly type: 'object';
    readonly properties: Schemas extends FieldSchemas ? Schemas : never;
    readonly required: readonly Required[];
    readonly additionalProperties: false;
  }>
>;
