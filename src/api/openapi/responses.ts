// SPDX-License-Identifier: Apache-2.0
import { answerHeaders } from '../../base/contract/answer-headers.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import {
  errorBody as errorSchema,
  forbiddenErrorBody as forbiddenErrorSchema,
} from '../../base/contract/error-bodies.js';
import { errorBody } from '../../base/contract/error-body.js';
import { exampleValues } from '../../base/contract/example-values.js';
import type { Answer } from '../../base/contract/operation.js';
import { type CatalogueEntry, catalogue, type ErrorKey } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Components, JsonObject } from './components.js';

/** Errors of requests that match no operation. */
export const errorsOutsideOperations = [
  'FRAMING_UNCLEAR',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
] as const satisfies ErrorKey[];

/** Properties that determine the answers, in addition to the operation. */
type Rules = Pick<Endpoint, 'scope' | 'role' | 'version' | 'takesPermit'> &
  Partial<Pick<Endpoint, 'method' | 'operation'>>;

const entryOf = (key: ErrorKey): CatalogueEntry => catalogue[key];

const NOT_FOUND_STATUS = entryOf('NOT_FOUND').status;
const exampleId = 'a1b2c3d4-e5f6-7890-abcd-ef1234567890';
const exampleTime = new Date('2026-11-21T12:00:00Z');

/** Reports fields without effect; people who sign in send JSON. */
const takesFields = ({ scope, role, operation }: Rules): boolean =>
  scope !== undefined || role !== undefined || operation?.json !== undefined;

/** `adminRoute`. */
const adminErrors = [
  'SIGN_IN_REQUIRED',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'ROLE_INSUFFICIENT',
  'RATE_LIMITED',
  'DATABASE_UNAVAILABLE',
] as const satisfies ErrorKey[];

/** Errors of the front door, before the route sees a request. */
function errorsAtTheDoor({ scope, role, version, takesPermit, method }: Rules): readonly ErrorKey[] {
  const permitErrors: ErrorKey[] = ['OVERLOADED', 'STOPPING'];
  if (role !== undefined) {
    const changeErrors: ErrorKey[] = method === 'GET' ? [] : ['CSRF_REFUSED'];
    return [...adminErrors, ...changeErrors, ...permitErrors];
  }
  if (scope === undefined) return takesPermit ? permitErrors : [];
  const unauthorized = version === 'v0' ? 'UNAUTHORIZED_LEGACY' : 'UNAUTHORIZED';
  return [
    unauthorized,
    'FORBIDDEN',
    'RATE_LIMITED',
    'CONCURRENCY_LIMITED',
    'DATABASE_UNAVAILABLE',
    ...permitErrors,
  ];
}

/** Every error that this endpoint can answer. */
export const errorsOf = (endpoint: Rules & Pick<Endpoint, 'operation'>): ReadonlySet<ErrorKey> =>
  new Set([
    ...endpoint.operation.errors,
    ...errorsAtTheDoor(endpoint),
    ...(takesFields(endpoint) ? (['FIELD_INVALID', 'FIELD_UNKNOWN'] as const) : []),
    'INTERNAL',
  ]);

function headersOf(rules: Rules, keys: readonly ErrorKey[]): JsonObject {
  const { scope, role, version } = rules;
  const isError = keys.length > 0;
  const answer = {
    takesKey: (scope ?? role) !== undefined,
    takesFields: takesFields(rules),
    isDeprecated: version === 'v0',
    isError,
    tellsWhen: keys.some((key) => entryOf(key).retryAfterS !== undefined),
    isAnalysis: !isError && (scope === 'predict' || scope === 'voiceid'),
  };
  return Object.fromEntries(
    Object.entries(answerHeaders)
      .filter(([, { isOn }]) => isOn(answer))
      .map(([name, { title }]) => [name, { $ref: `#/components/headers/${title}` }]),
  );
}

/** One response for all errors with the same status; each is an example under its key. */
function errorResponse(keys: readonly ErrorKey[], rules: Rules, components: Components): JsonObject {
  const schemas = new Map<string, JsonObject>();
  const examples: JsonObject = {};
  for (const key of keys) {
    const failure = new ServiceError(key, exampleValues(key));
    const schema = failure.code === 'forbidden_error' ? forbiddenErrorSchema : errorSchema;
    schemas.set(schema.title, components.refer(schema));
    examples[key] = { summary: entryOf(key).when, value: errorBody(failure, exampleId, exampleTime) };
  }
  const [first, ...others] = schemas.values();
  const schema = others.length === 0 ? first : { anyOf: [first, ...others] };
  return {
    description: keys.map((key) => `- \`${key}\`: ${entryOf(key).when}`).join('\n'),
    headers: headersOf(rules, keys),
    content: { 'application/json': { schema, examples } },
  };
}

function answerContent({ schema, contentType }: Answer, components: Components): JsonObject {
  if (schema !== undefined) {
    const example = schema.examples?.[0];
    const media = { schema: components.refer(schema), ...(example !== undefined && { example }) };
    return { content: { 'application/json': media } };
  }
  return contentType === undefined ? {} : { content: { [contentType]: {} } };
}

const ownHeaders = ({ headers = {} }: Answer): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

const answerResponse = (answer: Answer, rules: Rules, components: Components): JsonObject => ({
  description: answer.description,
  headers: {
    ...headersOf(rules, []),
    ...ownHeaders(answer),
  },
  ...answerContent(answer, components),
});

/** @param never errors of the route that a request of this kind cannot cause */
export function responses(
  endpoint: Endpoint,
  components: Components,
  never: readonly ErrorKey[] = [],
): JsonObject {
  const answers = Object.entries(endpoint.operation.answers).map(([status, answer]) => [
    status,
    answerResponse(answer, endpoint, components),
  ]);
  const byStatus = new Map<number, ErrorKey[]>();
  for (const key of errorsOf(endpoint)) {
    if (never.includes(key)) continue;
    const { status } = entryOf(key);
    byStatus.set(status, [...(byStatus.get(status) ?? []), key]);
  }
  byStatus.get(NOT_FOUND_STATUS)?.push('NOT_FOUND');
  const errors = [...byStatus].map(([status, keys]) => [status, errorResponse(keys, endpoint, components)]);
  const notFound = [NOT_FOUND_STATUS, { $ref: '#/components/responses/NOT_FOUND' }];
  return Object.fromEntries([...answers, notFound, ...errors]);
}

export function responsesOutsideOperations(components: Components): JsonObject {
  return { NOT_FOUND: errorResponse(['NOT_FOUND'], {}, components) };
}
