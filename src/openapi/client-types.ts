// SPDX-License-Identifier: Apache-2.0

import { deletedFiles } from '../contract/deleted-files.js';
import { errorBody, forbiddenErrorBody } from '../contract/error-bodies.js';
import { linkList } from '../contract/link-list.js';
import type { Fields } from '../contract/operation.js';
import { largeFileFieldSchemas, predictFieldSchemas } from '../contract/predict-fields.js';
import { largeFilePrediction, prediction } from '../contract/prediction.js';
import type { Schema } from '../contract/schema.js';
import { enrollFieldSchemas, verifyFieldSchemas } from '../contract/voice-fields.js';
import { enrollment, verification } from '../contract/voice-identity.js';

/** As wide as the formatter lets a line be. */
const MAX_LINE_CHARS = 110;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** Writes TypeScript for JSON Schemas; a schema with a title becomes an interface of that name. */
class TypeWriter {
  readonly #interfaces = new Map<string, string>();

  get text(): string {
    return [...this.#interfaces.values()].join('\n');
  }

  declare(schema: Schema): void {
    const name = String(schema.title);
    if (this.#interfaces.has(name)) return;
    const body = this.#members(schema, '  ');
    this.#interfaces.set(name, `export interface ${name} {\n${body}}\n`);
  }

  /** The alternatives of a union. */
  #typesOf(schema: Schema, indent: string): string[] {
    if (Array.isArray(schema.enum)) return schema.enum.map((value) => this.#literal(value));
    if (schema.const !== undefined) return [this.#literal(schema.const)];
    const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
    return types.map((type) => {
      switch (type) {
        case 'integer':
          return 'number';
        case 'array':
          return `readonly ${this.#itemType(schema, indent)}[]`;
        case 'object':
          return this.#objectType(schema, indent);
        default:
          return String(type);
      }
    });
  }

  #literal(value: unknown): string {
    return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  }

  #itemType({ items }: Schema, indent: string): string {
    const types = isSchema(items) ? this.#typesOf(items, indent) : ['unknown'];
    return types.length === 1 ? types.join('') : `(${types.join(' | ')})`;
  }

  #objectType(schema: Schema, indent: string): string {
    if (schema.title === undefined) return `{\n${this.#members(schema, `${indent}  `)}${indent}}`;
    this.declare(schema);
    return schema.title;
  }

  #members({ properties, required }: Schema, indent: string): string {
    const names = Array.isArray(required) ? required : [];
    return Object.entries(isSchema(properties) ? properties : {})
      .map(([name, property]) => {
        const schema = property as Schema;
        const comment = schema.description === undefined ? '' : `${indent}/** ${schema.description} */\n`;
        const head = `${indent}readonly ${name}${names.includes(name) ? '' : '?'}:`;
        const types = this.#typesOf(schema, indent);
        const line = `${head} ${types.join(' | ')};`;
        const isTooLong = types.length > 1 && line.length > MAX_LINE_CHARS;
        const broken = `${head}${types.map((type) => `\n${indent}  | ${type}`).join('')};`;
        return `${comment}${isTooLong ? broken : line}\n`;
      })
      .join('');
  }
}

/** Which detectors there are is the server's affair, so that a client's compiler cannot know them. */
const anyModel = (schemas: Fields['schemas']): Fields['schemas'] => ({
  ...schemas,
  ...('model' in schemas && {
    model: { type: 'string', description: 'The detector; the server says which there are.', expected: '' },
  }),
});

const fields = (title: string, schemas: Fields['schemas'], required: readonly string[] = []): Schema => ({
  title,
  type: 'object',
  properties: anyModel(schemas),
  required,
});

/** `client/src/types.ts`. */
export function clientTypes(): string {
  const writer = new TypeWriter();
  for (const schema of [
    fields('PredictFields', predictFieldSchemas([])),
    fields('LargeFileFields', largeFileFieldSchemas),
    fields('EnrollFields', enrollFieldSchemas),
    fields('VerifyFields', verifyFieldSchemas, ['voice_vector']),
    prediction,
    largeFilePrediction,
    enrollment,
    verification,
    linkList,
    deletedFiles,
    errorBody,
    forbiddenErrorBody,
  ]) {
    writer.declare(schema);
  }
  const note = '// Made by `npm run docs` from the schemas that the server validates by. Do not edit.';
  return `// SPDX-License-Identifier: Apache-2.0\n//\n${note}\n\n${writer.text}`;
}
