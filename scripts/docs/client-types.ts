// SPDX-License-Identifier: Apache-2.0
import { compile, type Options } from 'json-schema-to-typescript';
import { loadConfig } from '../../src/base/config/load-config.js';
import { callEvents } from '../../src/base/contract/call.js';
import { errorBody, forbiddenErrorBody } from '../../src/base/contract/error-bodies.js';
import { LARGE_FILE_MODEL } from '../../src/base/contract/model-ids.js';
import type { Fields } from '../../src/base/contract/operation.js';
import type { Schema } from '../../src/base/contract/schema.js';
import { serverMessages } from '../../src/base/contract/stream.js';
import { streamFieldSchemas, streamRequired } from '../../src/base/contract/stream-fields.js';
import { adminEndpoints } from '../../src/console/contract/admin-endpoints.js';
import { jobEndpoints } from '../../src/jobs/contract/job-endpoints.js';
import { endpoints } from '../../src/service/endpoints.js';

const header = `// SPDX-License-Identifier: Apache-2.0
//
// Made by \`npm run docs\` from the schemas that the server validates by. Do not edit.`;

const options: Partial<Options> = {
  additionalProperties: false,
  bannerComment: '',
  // Named types are compiled separately.
  declareExternallyReferenced: false,
  style: { singleQuote: true, printWidth: 110 },
};

/** The server decides which detectors exist: a client's compiler cannot know them. */
const anyModel = { type: 'string', description: 'The detector; the server says which there are.' };

const fieldsSchema = ({ title, schemas, required = [] }: Fields): Schema => ({
  title: String(title),
  type: 'object',
  properties: { ...schemas, ...('model' in schemas && { model: anyModel }) },
  required,
});

/** Fields and answers of the current version, with or without those of the admin API. */
function schemasOf(withAdmin: boolean): Schema[] {
  const config = loadConfig({});
  const wings = [{ endpoints: jobEndpoints }, { endpoints: () => adminEndpoints }];
  const all = endpoints(config, [{ id: LARGE_FILE_MODEL, aliases: [] }], wings);
  const current = all.filter(
    ({ scope, version, operation: { tag } }) =>
      (tag === 'Admin' ? withAdmin : scope !== undefined) && version !== 'v0',
  );
  // If there is a form, the client has a separate method for the JSON fields.
  const fields = current.flatMap(({ operation: { form, json } }) => {
    const named = form ?? json;
    return named?.title ? [fieldsSchema(named)] : [];
  });
  const answers = current.flatMap(({ operation }) =>
    Object.values(operation.answers).flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
  );
  const streamFields = {
    title: 'StreamFields',
    schemas: streamFieldSchemas([{ id: LARGE_FILE_MODEL, aliases: [] }]),
    required: streamRequired,
    example: {},
  };
  return [
    ...fields,
    fieldsSchema(streamFields),
    ...answers,
    ...serverMessages,
    ...callEvents,
    errorBody,
    forbiddenErrorBody,
  ];
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A copy without anything that a type cannot express; titled schemas are added to `named`, after their parts.
 */
function collected(schema: Schema, named: Map<string, Schema>): Schema {
  // A schema that occurs twice in a type would get two names.
  const known = schema.title === undefined ? undefined : named.get(schema.title);
  if (known !== undefined) return known;
  const { minItems, maxItems, examples, ...rest } = schema;
  const copy: Record<string, unknown> = { ...rest };
  if (isObject(schema.items)) copy.items = collected(schema.items, named);
  if (Array.isArray(schema.anyOf)) {
    copy.anyOf = schema.anyOf.map((one) => collected(one as Schema, named));
  }
  if (isObject(schema.properties)) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [
        name,
        collected(property as Schema, named),
      ]),
    );
  }
  if (schema.title !== undefined) named.set(schema.title, copy);
  return copy;
}

/** By their names, each after its parts. */
export function namedSchemas({ withAdmin }: { readonly withAdmin: boolean }): Map<string, Schema> {
  const named = new Map<string, Schema>();
  for (const schema of schemasOf(withAdmin)) collected(schema, named);
  return named;
}

/** `client/src/types.ts`. */
export async function clientTypes(): Promise<string> {
  const types = [...namedSchemas({ withAdmin: true })].map(([name, schema]) =>
    compile(schema, name, options),
  );
  return `${header}\n\n${(await Promise.all(types)).join('\n')}`;
}
