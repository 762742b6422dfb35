// SPDX-License-Identifier: Apache-2.0
//
// This room writes the OpenAPI document from the contract in src/base/contract and src/console/contract.
// The server sends it as /openapi.json.
import { answerHeaders } from '../../base/contract/answer-headers.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import { formOnlyErrors, linkOnlyErrors } from '../../base/contract/error-groups.js';
import { type Operation, tags } from '../../base/contract/operation.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { Components, type JsonObject } from './components.js';
import { parameters, requestBody } from './request.js';
import { responses, responsesOutsideOperations } from './responses.js';

const description = `Tells human from AI-generated voices and checks a speaker's voiceprint.

Every answer has the header \`x-correlation-id\`; a client can set it to a UUID of its own. Every error has
\`x-error-key\`, its name in docs/errors.md. Unknown paths get 404. Known paths with a wrong method get 405, the key
\`METHOD_NOT_ALLOWED\` and \`Allow\`. GET routes also answer HEAD, and every path answers OPTIONS.

If a route takes either a form with a file or JSON with a link, this document describes them as two operations, so that
generated clients have both: \`#link\` at the end of a path is a fragment, which clients do not send.

Not described here: \`/\`, \`/openapi.json\`, \`/docs\`, \`/dashboard\`, \`/metrics\`, and the addresses of presigned links, whose errors are
S3's XML. Headers that are not HTTP, are too large or have a version other than HTTP/1.1 get 400, 431 or 505 with a body
that is not JSON.`;

const headers = Object.fromEntries(
  Object.values(answerHeaders).map(({ title, description, schema }) => [title, { description, schema }]),
);

const correlationId = {
  name: 'x-correlation-id',
  in: 'header',
  description: "The client's own identifier for the request. If it is not a UUID, the server makes one.",
  schema: { type: 'string', format: 'uuid' },
};

/** Different for v0 and the unversioned base, which serve the same operations by other rules. */
function operationId({ path, version, operation }: Endpoint, suffix: string): string {
  const id = `${operation.id}${suffix}`;
  if (version !== 'v0') return id;
  return `${id}${path.startsWith('/v0/') ? 'V0' : 'Unversioned'}`;
}

/** One way to call a route; most have only one. */
interface Variant {
  /** Tells the paths of two variants apart. */
  readonly fragment: string;
  readonly idSuffix: string;
  readonly summarySuffix: string;
  readonly operation: Operation;
  /** Errors of the route that this way cannot cause. */
  readonly never: readonly ErrorKey[];
}

const plain = { fragment: '', idSuffix: '', summarySuffix: '' };
const byLink = { fragment: '#link', idSuffix: 'ByLink', summarySuffix: ' The recording is given as a link.' };

/** Client generators support one kind of body per operation, and prefer JSON to a form. */
function variantsOf(operation: Operation): Variant[] {
  const { form, json, ...common } = operation;
  if (form === undefined || json === undefined) return [{ ...plain, operation, never: [] }];
  return [
    { ...plain, operation: { ...common, form }, never: linkOnlyErrors },
    { ...byLink, operation: { ...common, json }, never: formOnlyErrors },
  ];
}

const sessionSchemes = {
  session: {
    type: 'apiKey',
    name: '__Host-veravox',
    in: 'cookie',
    description: 'Set by `POST /v1/admin/session`. Without TLS its name is `veravox`.',
  },
  csrfToken: {
    type: 'apiKey',
    name: 'x-csrf-token',
    in: 'header',
    description: "The session's `csrf_token`, from `/v1/admin/session`.",
  },
};

/** Each entry is enough. */
function securityOf({ scope, role, method }: Endpoint): JsonObject[] {
  if (scope !== undefined) return [{ apiKey: [] }];
  if (role === undefined) return [];
  return [{ apiKey: [] }, { session: [], ...(method !== 'GET' && { csrfToken: [] }) }];
}

function operationObject(endpoint: Endpoint, variant: Variant, components: Components): JsonObject {
  const { scope, role, version } = endpoint;
  const { operation, idSuffix, summarySuffix, never } = variant;
  const needs = [
    scope === undefined ? [] : `Requires a key with the scope \`${scope}\`.`,
    role === undefined ? [] : `Requires the role \`${role}\`, or a key with the scope \`admin\`.`,
  ].flat();
  return {
    operationId: operationId(endpoint, idSuffix),
    tags: [operation.tag],
    summary: `${operation.summary}${summarySuffix}`,
    description: [operation.description ?? [], needs].flat().join('\n\n'),
    ...(version === 'v0' && { deprecated: true }),
    security: securityOf(endpoint),
    parameters: parameters(endpoint, components),
    ...requestBody(operation, components),
    responses: responses(endpoint, components, never),
  };
}

/** The OpenAPI 3.1 document of a server with these endpoints. @param path see `publicPath` */
export function openApiDocument(endpoints: readonly Endpoint[], version: string, path = '') {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of endpoints) {
    for (const variant of variantsOf(endpoint.operation)) {
      const { parameter } = endpoint;
      const isAtEnd = parameter !== undefined && endpoint.path.endsWith('/');
      const path = `${endpoint.path}${isAtEnd ? `{${parameter.name}}` : ''}${variant.fragment}`;
      const operation = operationObject(endpoint, variant, components);
      paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation };
    }
  }
  const responsesOutside = responsesOutsideOperations(components);
  return {
    openapi: '3.1.1',
    info: {
      title: 'veravox',
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: path || '/', description: 'The server of this document.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      responses: responsesOutside,
      parameters: { CorrelationId: correlationId },
      headers,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          name: 'x-api-key',
          in: 'header',
          description: 'Created by `veravox keys create`.',
        },
        ...(endpoints.some(({ role }) => role !== undefined) && sessionSchemes),
      },
    },
  };
}
