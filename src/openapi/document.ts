// SPDX-License-Identifier: Apache-2.0
import type { Route } from '../routes/route.js';
import { Components, type JsonObject } from './components.js';
import { tags } from './operation.js';
import { PREFIX_PARAMETER, parameters, requestBody } from './request.js';
import { responses, responsesOutsideOperations } from './responses.js';

const description = `Tells human from AI-generated voices and checks a speaker's voiceprint.

Every answer carries \`x-correlation-id\`; a caller's own valid UUID in that header is kept. An unknown path is answered
with 404, a known path with another method with 405 and \`Allow\` (\`components/responses\`). GET routes answer HEAD, and
every path answers OPTIONS. A head that is no HTTP, is too large or of another version than HTTP/1.1 is answered with
400, 431 or 505 and no body.`;

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
  RetryAfter: {
    description: 'Seconds after which another try makes sense.',
    schema: { type: 'integer', minimum: 0 },
  },
  ServerTiming: {
    description: 'Milliseconds of each stage: receive, queue, decode, features, inference.',
    schema: { type: 'string' },
  },
  Allow: { description: 'The methods that work.', schema: { type: 'string' } },
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
function operationId({ path, version, operation }: Route): string {
  if (version !== 'v0') return operation.id;
  return `${operation.id}${path.startsWith('/v0/') ? 'V0' : 'Unversioned'}`;
}

function operationObject(route: Route, components: Components): JsonObject {
  const { operation, scope, version } = route;
  const needs = scope === undefined ? [] : [`Needs a key with the scope \`${scope}\`.`];
  return {
    operationId: operationId(route),
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description ?? [], needs].flat().join('\n\n'),
    ...(version === 'v0' && { deprecated: true }),
    security: scope === undefined ? [] : [{ apiKey: [] }],
    parameters: parameters(operation, route.isPrefix === true, components),
    ...requestBody(operation, components),
    responses: responses(route, components),
  };
}

/** The OpenAPI 3.1 document of a server with these routes. */
export function openApiDocument(routes: readonly Route[], version: string) {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.isPrefix ? `${route.path}{${PREFIX_PARAMETER}}` : route.path;
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationObject(route, components),
    };
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
    servers: [{ url: '/' }],
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
