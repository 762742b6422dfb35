// SPDX-License-Identifier: Apache-2.0
import type { Schema } from '../../base/contract/schema.js';
import { isJsonObject } from '../../base/json-object.js';

export type JsonObject = Record<string, unknown>;

/** Keywords of the field schemas that JSON Schema lacks. */
const ownKeywords: readonly string[] = ['expected', 'nullInForm', 'isName'];

/** Collects the schemas with a title: each appears once in the document, and everything else refers to it. */
export class Components {
  readonly schemas: JsonObject = {};
  readonly #seen = new Map<string, Schema>();

  /** @returns a reference to the schema, or if it has no title, the schema with references inside */
  refer(schema: Schema): JsonObject {
    if (schema.title === undefined) return this.#resolved(schema);
    const known = this.#seen.get(schema.title);
    if (known === undefined) {
      this.#seen.set(schema.title, schema);
      this.schemas[schema.title] = this.#resolved(schema);
    } else if (known !== schema) {
      throw new Error(`Two schemas have the title ${schema.title}.`);
    }
    return { $ref: `#/components/schemas/${schema.title}` };
  }

  #resolved(schema: Schema): JsonObject {
    const { title, ...rest } = schema;
    const resolved: JsonObject = {};
    for (const [keyword, value] of Object.entries(rest)) {
      if (ownKeywords.includes(keyword)) continue;
      if (keyword === 'properties' && isJsonObject(value)) {
        resolved[keyword] = Object.fromEntries(
          Object.entries(value).map(([name, property]) => [name, this.refer(property as Schema)]),
        );
      } else if (keyword === 'items' && isJsonObject(value)) {
        resolved[keyword] = this.refer(value);
      } else {
        resolved[keyword] = value;
      }
    }
    return resolved;
  }
}
