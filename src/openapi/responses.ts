// SPDX-License-Identifier: Apache-2.0
import { errorBody } from '../contract/error-bodies.js';
import { type CatalogueEntry, catalogue, type ErrorKey } from '../errors/catalogue.js';
import type { Route } from '../routes/route.js';
import type { Components, JsonObject } from './components.js';
import type { Answer } from './operation.js';

/** Errors of requests that reach no operation. */
export const errorsOutsideOperations = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'] as const satisfies ErrorKey[];

const exampleId = 'a1b2c3d4-e5f6-7890-abcd-ef1234567890';

/** Every error that a request to this route can be answered with: its own and those of the front door. */
export function errorsOf({ scope, version, operation }: Pick<Route, 'scope' | 'version' | 'operation'>) {
  const atTheDoor: ErrorKey[] =
    scope === undefined
      ? []
      : [
          version === 'v0' ? 'UNAUTHORIZED_LEGACY' : 'UNAUTHORIZED',
          'FORBIDDEN',
          'RATE_LIMITED',
          'CONCURRENCY_LIMITED',
          'OVERLOADED',
          'STOPPING',
        ];
  return new Set<ErrorKey>([...operation.errors, ...atTheDoor, 'INTERNAL']);
}

const header = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` });

function headersOf(route: Pick<Route, 'scope' | 'version'>, keys: readonly ErrorKey[]): JsonObject {
  const entries: CatalogueEntry[] = keys.map((key) => catalogue[key]);
  return {
    'x-correlation-id': header('CorrelationId'),
    ...(entries.some(({ retryAfterS }) => retryAfterS !== undefined) && {
      'retry-after': header('RetryAfter'),
    }),
    ...(keys.includes('METHOD_NOT_ALLOWED') && { allow: header('Allow') }),
    ...(route.version === 'v0' && {
      deprecation: header('Deprecation'),
      sunset: header('Sunset'),
      link: header('Link'),
    }),
  };
}

/** What has stages to time. */
const isAnalysis = ({ scope }: Pick<Route, 'scope'>): boolean => scope === 'predict' || scope === 'voiceid';

/** One response that stands for several errors of the same status; each is an example under its key. */
function errorResponse(
  keys: readonly ErrorKey[],
  route: Pick<Route, 'scope' | 'version'>,
  components: Components,
) {
  const examples = keys.map((key) => {
    const { code, message, status, when } = catalogue[key];
    return [key, { summary: when, value: { error: code, message, status, correlation_id: exampleId } }];
  });
  return {
    description: keys.map((key) => catalogue[key].when).join(' '),
    headers: headersOf(route, keys),
    content: {
      'application/json': { schema: components.refer(errorBody), examples: Object.fromEntries(examples) },
    },
  };
}

function answerResponse(answer: Answer, route: Route, components: Components): JsonObject {
  const { description, schema, contentType = 'application/json' } = answer;
  const example = schema?.examples?.[0];
  return {
    description,
    headers: {
      ...headersOf(route, []),
      ...(isAnalysis(route) && { 'server-timing': header('ServerTiming') }),
    },
    content: {
      [contentType]: {
        schema: schema === undefined ? { type: 'string' } : components.refer(schema),
        ...(example !== undefined && { example }),
      },
    },
  };
}

export function responses(route: Route, components: Components): JsonObject {
  const answers = Object.entries(route.operation.answers).map(([status, answer]) => [
    status,
    answerResponse(answer, route, components),
  ]);
  const byStatus = new Map<number, ErrorKey[]>();
  for (const key of errorsOf(route)) {
    const { status } = catalogue[key];
    byStatus.set(status, [...(byStatus.get(status) ?? []), key]);
  }
  const errors = [...byStatus].map(([status, keys]) => [status, errorResponse(keys, route, components)]);
  return Object.fromEntries([...answers, ...errors]);
}

export function responsesOutsideOperations(components: Components): JsonObject {
  return Object.fromEntries(
    errorsOutsideOperations.map((key) => [key, errorResponse([key], {}, components)]),
  );
}
