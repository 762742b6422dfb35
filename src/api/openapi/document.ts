// SPDX-License-Identifier: Apache-2.0

import type { Endpoint } from '../../base/contract/endpoint.js';
import { formOnlyErrors, linkOnlyErrors } from '../../base/contract/error-groups.js';
import { type Operation, tags } from '../../base/contract/operation.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { Components, type JsonObject } from './components.js';
import { parameters, requestBody } from './request.js';
import { responses, responsesOutsideOperations } from './responses.js';

const description = `Tells human from AI-generated voices and checks a speaker's voiceprint.

Every answer carries \`x-correlation-id\`; a caller's own valid UUID in that header is kept. Every error carries
\`x-error-key\`, which names its line in docs/errors.md. An unknown path is answered with 404, a known path with another
method with 405, the key \`METHOD_NOT_ALLOWED\` and \`Allow\`. GET routes answer HEAD, and every path answers OPTIONS.

Where a route takes a form with a file or JSON with a link to one, the document describes each as an operation of its own,
so that generated clients have both: \`#link\` at the end of a path is a fragment, which no client sends.

Not described here: \`/\`, \`/openapi.json\`, \`/docs\`, \`/metrics\`, and the addresses of presigned links, whose errors are
S3's XML. A head that is no HTTP, is too large or of another version than HTTP/1.1 is answered with
400, 431 or 505 and a body that is not JSON.`;

const headers = {
  CorrelationId: {
    description: 'Identifies the request; also in error bodies and in the log.',
    schema: { type: 'string', format: 'uuid' },
  },
  RateLimitLimit: {
    description: 'Requests that the key has per window, where it has a limit.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitRemaining: { description: 'Those that are left.', schema: { type: 'integer', minimum: 0 } },
  RateLimitReset: {
    description: 'Seconds until the window ends.',
    schema: { type: 'integer', minimum: 0 },
  },
  ErrorKey: {
    description: 'The name of the error, which is more precise than its code: a line of docs/errors.md.',
    schema: { type: 'string', examples: ['AUDIO_TOO_SHORT'] },
  },
  RetryAfter: {
    description: 'Seconds after which another try makes sense.',
    schema: { type: 'integer', minimum: 0 },
  },
  ServerTiming: {
    description:
      'Milliseconds of wall time of each stage: receive, queue, decode, features, inference. Stages of a longer file overlap.',
    schema: { type: 'string' },
  },
  Deprecation: { description: 'Since when the route is deprecated (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'When the route will go away (RFC 8594).', schema: { type: 'string' } },
  Link: { description: 'The route that comes after it.', schema: { type: 'string' } },
};

const correlationId = {
  name: 'x-correlation-id',
  in: 'header',
  description: "The caller's own identifier of the request; another is made where it is no UUID.",
  schema: { type: 'string', format: 'uuid' },
};

/** The names of v0 and of the unversioned base, which serve the same operations under other rules. */
function operationId({ path, version, operation }: Endpoint, suffix: string): string {
  const id = `${operation.id}${suffix}`;
  if (version !== 'v0') return id;
  return `${id}${path.startsWith('/v0/') ? 'V0' : 'Unversioned'}`;
}

/** One way to ask a route: most have one. */
interface Variant {
  /** Tells the paths of two variants apart. */
  readonly fragment: string;
  readonly idSuffix: string;
  readonly summarySuffix: string;
  readonly operation: Operation;
  /** Errors of the route that this way cannot meet. */
  readonly never: readonly ErrorKey[];
}

const plain = { fragment: '', idSuffix: '', summarySuffix: '' };
const byLink = { fragment: '#link', idSuffix: 'ByLink', summarySuffix: ' The recording is behind a link.' };

/** Generators of clients take one kind of body for each operation, and prefer JSON to a form. */
function variantsOf(operation: Operation): Variant[] {
  const { form, json, ...common } = operation;
  if (form === undefined || json === undefined) return [{ ...plain, operation, never: [] }];
  return [
    { ...plain, operation: { ...common, form }, never: linkOnlyErrors },
    { ...byLink, operation: { ...common, json }, never: formOnlyErrors },
  ];
}

function operationObject(endpoint: Endpoint, variant: Variant, components: Components): JsonObject {
  const { scope, version } = endpoint;
  const { operation, idSuffix, summarySuffix, never } = variant;
  const needs = scope === undefined ? [] : [`Needs a key with the scope \`${scope}\`.`];
  return {
    operationId: operationId(endpoint, idSuffix),
    tags: [operation.tag],
    summary: `${operation.summary}${summarySuffix}`,
    description: [operation.description ?? [], needs].flat().join('\n\n'),
    ...(version === 'v0' && { deprecated: true }),
    security: scope === undefined ? [] : [{ apiKey: [] }],
    parameters: parameters(operation, components),
    ...requestBody(operation, components),
    responses: responses(endpoint, components, never),
  };
}

/** The OpenAPI 3.1 document of a server with these endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string) {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of endpoints) {
    for (const variant of variantsOf(endpoint.operation)) {
      const path = `${endpoint.path}${variant.fragment}`;
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
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
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
          description: 'Made by `veravox keys create`.',
        },
      },
    },
  };
}
