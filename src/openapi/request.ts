// SPDX-License-Identifier: Apache-2.0
import type { Components, JsonObject } from './components.js';
import type { Fields, FilePart, Operation } from './operation.js';

const objectOf = ({ schemas, required = [], example }: Fields, file?: FilePart): JsonObject => {
  const fileSchema = file && { [file.field]: binary(file) };
  const names = [...(file ? [file.field] : []), ...required];
  // At each field, too: forms on the docs page are filled in from there.
  const fields = Object.entries(schemas).map(([name, schema]) => [
    name,
    name in example ? { ...schema, examples: [example[name]] } : schema,
  ]);
  return {
    type: 'object',
    properties: { ...fileSchema, ...Object.fromEntries(fields) },
    ...(names.length > 0 && { required: names }),
  };
};

const binary = ({ description, minBytes, maxBytes }: FilePart): JsonObject => ({
  type: 'string',
  format: 'binary',
  description,
  // JSON Schema's maxLength counts characters.
  ...(minBytes !== undefined && { 'x-min-bytes': minBytes }),
  'x-max-bytes': maxBytes,
});

/** A file stands in an example as in curl's `-F`: an @ and a name. */
export const exampleFile = '@recording.wav';

export function parameters({ query }: Operation, components: Components): JsonObject[] {
  const fromQuery = Object.entries(query?.schemas ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schema;
    const example = query?.example[name];
    return {
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      schema: components.refer(rest),
      ...(example !== undefined && { example }),
    };
  });
  return [...fromQuery, { $ref: '#/components/parameters/CorrelationId' }];
}

export function requestBody({ form, json }: Operation, components: Components): JsonObject {
  const content: JsonObject = {};
  if (form) {
    content['multipart/form-data'] = {
      schema: components.refer(objectOf(form, form.file)),
      example: { [form.file.field]: exampleFile, ...form.example },
    };
  }
  if (json) {
    content['application/json'] = { schema: components.refer(objectOf(json)), example: json.example };
  }
  return form || json ? { requestBody: { required: true, content } } : {};
}
