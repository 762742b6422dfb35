// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface SchemaObject {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly [keyword: string]: unknown;
}

export interface MediaType {
  readonly schema: SchemaObject;
  readonly example?: Readonly<Record<string, unknown>>;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export type Responses = Readonly<Record<string, ResponseObject>>;

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly security: readonly unknown[];
  readonly parameters: readonly {
    readonly name?: string;
    readonly in: string;
    readonly description?: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Responses;
}

export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Partial<Record<'get' | 'post' | 'put', OperationObject>>>>
  >;
  readonly components: {
    readonly responses: Responses;
    readonly schemas: Readonly<Record<string, SchemaObject>>;
  };
}

export async function documentOf(origin: string): Promise<OpenApiDocument> {
  const response = await fetch(`${origin}/openapi.json`);
  assert.equal(response.status, 200);
  return (await response.json()) as OpenApiDocument;
}

const REFERENCE = '#/components/responses/';

/** Includes the responses that an operation only references. */
export const operationsOf = ({ paths, components }: OpenApiDocument): OperationObject[] =>
  Object.values(paths)
    .flatMap((item) => Object.values(item))
    .map((operation) => {
      const responses = Object.entries(operation.responses).map(([status, response]) => {
        const name = '$ref' in response ? String(response.$ref).slice(REFERENCE.length) : undefined;
        return [status, name === undefined ? response : components.responses[name]];
      });
      return { ...operation, responses: Object.fromEntries(responses) };
    });

/** Checks values against schemas of the document, including references. */
export function validatorOf(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'openapi.json', components: document.components });
  return (schema: object, value: unknown, what: string): void => {
    const absolute = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components', '"openapi.json#/components'),
    );
    assert.ok(ajv.validate(absolute, value), `${what}: ${ajv.errorsText()}`);
  };
}
