// SPDX-License-Identifier: Apache-2.0
import type { Components, JsonObject } from './components.js';
import type { Binary, Fields, FilePart, Operation } from './operation.js';

/** A file stands in an example as in curl's `-F`: an @ and a name. */
const exampleFile = '@recording.wav';

const binary = ({ description, minBytes, maxBytes }: Binary): JsonObject => ({
  type: 'string',
  format: 'binary',
  description,
  // JSON Schema's maxLength counts characters.
  ...(minBytes !== undefined && { 'x-min-bytes': minBytes }),
  'x-max-bytes': maxBytes,
});

function objectOf({ schemas, required = [], example }: Fields, file?: FilePart): JsonObject {
  const names = [...(file ? [file.field] : []), ...required];
  // At each field, too: the forms of the docs page are filled in from there.
  const fields = Object.entries(schemas).map(([name, schema]) => [
    name,
    name in example ? { ...schema, examples: [example[name]] } : schema,
  ]);
  return {
    type: 'object',
    properties: { ...(file && { [file.field]: binary(file) }), ...Object.fromEntries(fields) },
    ...(names.length > 0 && { required: names }),
  };
}

/** The name by which the document calls what stands behind a prefix. */
export const PREFIX_PARAMETER = 'object';

export function parameters({ query }: Operation, isPrefix: boolean, components: Components): JsonObject[] {
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
  const description = 'The rest of the path, slashes included.';
  const fromPath = {
    name: PREFIX_PARAMETER,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  };
  return [...(isPrefix ? [fromPath] : []), ...fromQuery, { $ref: '#/components/parameters/CorrelationId' }];
}

export function requestBody({ form, json, bytes }: Operation, components: Components): JsonObject {
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
  if (bytes) content['application/octet-stream'] = { schema: binary(bytes) };
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}
