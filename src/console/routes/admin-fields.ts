// SPDX-License-Identifier: Apache-2.0
import { FieldValidator } from '../../api/routes/form-fields.js';
import { queryValues } from '../../api/routes/link-fields.js';
import type { RouteRequest } from '../../api/routes/route.js';
import { receiveJson } from '../../api/upload/json-body.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { Fields } from '../../base/contract/operation.js';

const MAX_JSON_BYTES = 32 * 1024;

function validatorOf<Values>(fields: Fields | undefined): FieldValidator<Values> {
  if (fields === undefined) throw new Error('The endpoint has no such fields.');
  return new FieldValidator<Values>(fields);
}

/**
 * Reads the endpoint's body.
 * @returns a function to call before the handler first awaits; rejects with ServiceError
 */
export const jsonFields = <Values>(
  endpoint: Endpoint,
  receiveTimeoutMs: number,
): ((request: RouteRequest) => Promise<Values>) =>
  bodyReader<Values>(endpoint, receiveTimeoutMs, (validator, given) => validator.fromJson(given));

/** The same of a change, in which null takes a value away. */
export const changedFields = <Values>(
  endpoint: Endpoint,
  receiveTimeoutMs: number,
): ((request: RouteRequest) => Promise<Values>) =>
  bodyReader<Values>(endpoint, receiveTimeoutMs, (validator, given) => validator.fromChange(given));

function bodyReader<Values>(
  { operation: { json } }: Endpoint,
  receiveTimeoutMs: number,
  read: (validator: FieldValidator<Values>, given: Record<string, unknown>) => Values,
): (request: RouteRequest) => Promise<Values> {
  const validator = validatorOf<Values>(json);
  const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs };
  return async (request) => {
    const given = await receiveJson(request.body, request.contentType, limits);
    validator.note(request, given);
    return read(validator, given);
  };
}

/** Reads the endpoint's query. @returns throws ServiceError FIELD_INVALID, FIELD_REPEATED */
export function queryFields<Values>({ operation: { query } }: Endpoint): (request: RouteRequest) => Values {
  const validator = validatorOf<Values>(query);
  return (request) => validator.check(queryValues(request.query, query?.schemas ?? {}));
}

/** The decoded parameter in the path of a prefix route, which ends with a slash; empty if it cannot be an id. */
export function parameterIn({ path }: RouteRequest, endpoint: Pick<Endpoint, 'path'>): string {
  const [start = '', end = ''] = endpoint.path.split(/\{\w+\}/);
  const parameter = path.slice(start.length, path.length - end.length);
  try {
    const decoded = decodeURIComponent(parameter);
    // No database takes one.
    return decoded.includes('\0') ? '' : decoded;
  } catch {
    return '';
  }
}
