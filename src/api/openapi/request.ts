// SPDX-License-Identifier: Apache-2.0
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { FieldSchema } from '../../base/contract/fields.js';
import type { Binary, Fields, FilePart, Operation } from '../../base/contract/operation.js';
import type { Components, JsonObject } from './components.js';

/** One part, or a list of parts with the same name. */
function filePart(file: FilePart): JsonObject {
  if (file.files === undefined) return binary(file);
  const { least, most } = file.files;
  return {
    type: 'array',
    description: `${file.description} ${least === 0 ? `At most ${most}` : `${least} to ${most}`}.`,
    items: binary(file),
    minItems: least,
    maxItems: most,
  };
}

/** Examples name a file as curl's `-F` does: an @ and a name. */
const exampleFile = '@recording.wav';

const inWords = (bytes: number): string => {
  const mebibytes = bytes / 2 ** 20;
  return `${bytes.toLocaleString('en')} bytes${Number.isInteger(mebibytes) ? ` (${mebibytes} MiB)` : ''}`;
};

const sizesOf = ({ minBytes, maxBytes }: Binary): string =>
  minBytes === undefined ? `At most ${inWords(maxBytes)}.` : `${inWords(minBytes)} to ${inWords(maxBytes)}.`;

const binary = (file: Binary): JsonObject => ({
  type: 'string',
  format: 'binary',
  description: `${file.description} ${sizesOf(file)}`,
  // JSON Schema's maxLength counts characters.
  ...(file.minBytes !== undefined && { 'x-min-bytes': file.minBytes }),
  'x-max-bytes': file.maxBytes,
});

/** These add nothing to the type. */
const plainExpectations: readonly string[] = ['a text', 'a string'];

/** With valid values and default in the description: documentation pages do not show them otherwise. */
function described(schema: FieldSchema): FieldSchema {
  const { description = '', expected, default: preset } = schema;
  const allowed = plainExpectations.includes(expected) ? '' : expected.replace(/,$/, '');
  const sentence = [allowed, preset === undefined ? '' : `default ${preset}`]
    .filter((part) => part !== '')
    .join('; ');
  if (sentence === '') return schema;
  return {
    ...schema,
    description: `${description} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
  };
}

function objectOf(
  { schemas, required = [], example }: Fields,
  file?: FilePart,
  otherFiles?: FilePart,
): JsonObject {
  const names = [...(file ? [file.field] : []), ...required];
  // Also at each field, because the forms of the docs page are filled from there.
  const fields = Object.entries(schemas).map(([name, schema]) => [
    name,
    name in example ? { ...described(schema), examples: [example[name]] } : described(schema),
  ]);
  return {
    type: 'object',
    properties: {
      ...(file && { [file.field]: filePart(file) }),
      ...(otherFiles && { [otherFiles.field]: filePart(otherFiles) }),
      ...Object.fromEntries(fields),
    },
    ...(names.length > 0 && { required: names }),
  };
}

export function parameters(
  { parameter, operation: { query } }: Endpoint,
  components: Components,
): JsonObject[] {
  const fromPath =
    parameter === undefined ? [] : [{ ...parameter, in: 'path', required: true, schema: { type: 'string' } }];
  const fromQuery = Object.entries(query?.schemas ?? {}).map(([name, schema]) => {
    const { description, ...rest } = described(schema);
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
  return [...fromPath, ...fromQuery, { $ref: '#/components/parameters/CorrelationId' }];
}

export function requestBody({ form, json, bytes }: Operation, components: Components): JsonObject {
  const content: JsonObject = {};
  if (form) {
    content['multipart/form-data'] = {
      schema: components.refer(objectOf(form, form.file, form.otherFiles)),
      example: {
        [form.file.field]:
          form.file.files === undefined ? exampleFile : Array(form.file.files.least).fill(exampleFile),
        ...form.example,
      },
    };
  }
  if (json) {
    content['application/json'] = { schema: components.refer(objectOf(json)), example: json.example };
  }
  if (bytes) content['application/octet-stream'] = { schema: binary(bytes) };
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}
