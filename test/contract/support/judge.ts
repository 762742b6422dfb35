// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  type ErrorBody,
  errorBody,
  type ForbiddenErrorBody,
  forbiddenErrorBody,
} from '../../../src/base/contract/error-bodies.js';
import { type LegacyPrediction, legacyPrediction } from '../../../src/base/contract/legacy-prediction.js';
import { type LinkList, linkList } from '../../../src/base/contract/link-list.js';
import {
  type LargeFilePrediction,
  largeFilePrediction,
  type Prediction,
  prediction,
} from '../../../src/base/contract/prediction.js';
import type { BodyOf } from '../../../src/base/contract/schema.js';
import {
  type Enrollment,
  enrollment,
  type Verification,
  verification,
} from '../../../src/base/contract/voice-identity.js';
import type { Answer } from './client.js';

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  allErrors: true,
  formats: { 'date-time': (text: string) => new Date(text).toISOString() === text },
});

export const expectPrediction = (answer: Answer): Prediction => expectOk(answer, prediction);
export const expectLargeFilePrediction = (answer: Answer): LargeFilePrediction =>
  expectOk(answer, largeFilePrediction);
export const expectLegacyPrediction = (answer: Answer): LegacyPrediction =>
  expectOk(answer, legacyPrediction);
export const expectEnrollment = (answer: Answer): Enrollment => expectOk(answer, enrollment);
export const expectVerification = (answer: Answer): Verification => expectOk(answer, verification);
export const expectLinks = (answer: Answer): LinkList['url'] => expectOk(answer, linkList).url;

/** A 200 whose JSON body has exactly the fields of the schema. */
export function expectOk<Body extends object>(answer: Answer, schema: Body): BodyOf<Body> {
  assert.equal(answer.status, 200, answer.text);
  return expectBody(answer, schema);
}

function expectBody<Body extends object>(answer: Answer, schema: Body): BodyOf<Body> {
  assert.match(String(answer.headers['content-type']), /^application\/json\b/);
  const validate = ajv.compile<BodyOf<Body>>(schema);
  const { json } = answer;
  if (validate(json)) return json;
  assert.fail(`${ajv.errorsText(validate.errors, { dataVar: 'body' })}: ${answer.text}`);
}

/** The codes of docs/api.md#errors with their statuses. */
export const codeOfStatus = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'timeout',
  413: 'payload_too_large',
  422: 'unsupported_format',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
} as const;

/** An error with the usual body. The default `code` follows from the status. */
export function expectError(
  answer: Answer,
  status: keyof typeof codeOfStatus,
  message: RegExp = /./,
  code: string = codeOfStatus[status],
): ErrorBody {
  assert.equal(answer.status, status, answer.text);
  const body = expectBody(answer, errorBody);
  assert.equal(body.error, code, answer.text);
  assert.equal(body.status, status, answer.text);
  assert.equal(body.correlation_id, answer.headers['x-correlation-id']);
  assert.match(body.message, message);
  return body;
}

/** A refusal with a status that the interface leaves open. */
export function expectOneOf(
  answer: Answer,
  allowed: readonly (readonly [status: keyof typeof codeOfStatus, code: string])[],
  message?: RegExp,
): void {
  const found = allowed.find(([status]) => status === answer.status);
  assert.ok(found, `${answer.status}: ${answer.text}`);
  expectError(answer, found[0], message, found[1]);
}

/** The refusal of an AI-generated voice, 7.2. */
export function expectForbiddenVoice(answer: Answer): ForbiddenErrorBody {
  assert.equal(answer.status, 403, answer.text);
  const body = expectBody(answer, forbiddenErrorBody);
  assert.equal(body.message.correlation_id, answer.headers['x-correlation-id']);
  return body;
}

export function expectNear(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(
    Math.abs(actual - expected) <= tolerance,
    `${what}: expected ${expected} (within ${tolerance}) but received ${actual}`,
  );
}
