// SPDX-License-Identifier: Apache-2.0
import type { CatalogueEntry } from './catalogue-entry.js';

/** Errors of the admin API's keys, jobs and models. */
export const adminEntries = {
  KEY_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no such key.',
    when: 'The id is wrong, or the key belongs to another account.',
  },
  KEY_REVOKED: {
    status: 400,
    code: 'validation_error',
    message: 'The key is revoked for good: create a new one.',
    when: 'A request changes a revoked key.',
  },
  KEY_NOT_ALLOWED: {
    status: 403,
    code: 'forbidden',
    message: 'Only administrators {what}.',
    when: 'A developer creates or changes a key with the scope `admin`, of another account, or with limits beyond those of the server, or a key of an account that has 10,000.',
  },
  JOB_NOT_RETRYABLE: {
    status: 400,
    code: 'validation_error',
    message: 'The job cannot be retried: {why}',
    when: 'The job has not failed, is a batch, or its recording came from a link, which the server has erased.',
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no such webhook.',
    when: 'The id is wrong or of another account, or the job was removed or retried.',
  },
  CARD_NOT_FOUND: {
    status: 404,
    code: 'not_found',
    message: 'There is no model card with this id.',
    when: 'The model is not served, or has no card in the folder of models.',
  },
} as const satisfies Record<string, CatalogueEntry>;
