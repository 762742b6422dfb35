// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { jsonErrors } from '../../base/contract/error-groups.js';
import { keyChangeRequest, keyListRequest, newKeyRequest } from './key-fields.js';
import { adminCreatedKey, adminKey, adminKeyList } from './keys.js';

const one = {
  path: '/v1/admin/keys/',
  parameter: { name: 'id', description: 'Id of the key.', example: '0123456789ab' },
} as const;

export const keyListing: AdminEndpoint = {
  method: 'GET',
  path: '/v1/admin/keys',
  role: 'viewer',
  operation: {
    id: 'listAdminKeys',
    tag: 'Admin',
    summary: 'List API keys, without their secrets.',
    query: keyListRequest,
    answers: { 200: { description: 'A page of keys.', schema: adminKeyList } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const keyCreation: AdminEndpoint = {
  method: 'POST',
  path: '/v1/admin/keys',
  role: 'developer',
  operation: {
    id: 'createAdminKey',
    tag: 'Admin',
    summary: 'Create an API key.',
    description:
      'Developers create keys of their own account, without the scope `admin` and within the limits of the server.',
    json: newKeyRequest,
    answers: {
      201: { description: 'The key, with its secret. It is shown only once.', schema: adminCreatedKey },
    },
    errors: [...jsonErrors, 'FIELD_INVALID', 'KEY_NOT_ALLOWED'],
  },
};

export const keyChanging: AdminEndpoint = {
  ...one,
  method: 'PATCH',
  role: 'developer',
  operation: {
    id: 'changeAdminKey',
    tag: 'Admin',
    summary: 'Change name, scopes, limits or expiry of a key.',
    description:
      'Absent fields stay as they are. All hosts follow within a second. The rules for new keys apply.',
    json: keyChangeRequest,
    answers: { 200: { description: 'The key as it is now.', schema: adminKey } },
    errors: [...jsonErrors, 'FIELD_INVALID', 'KEY_NOT_FOUND', 'KEY_NOT_ALLOWED', 'KEY_REVOKED'],
  },
};

export const keyRevocation: AdminEndpoint = {
  ...one,
  method: 'DELETE',
  role: 'developer',
  operation: {
    id: 'revokeAdminKey',
    tag: 'Admin',
    summary: 'Revoke a key for good.',
    description: 'All hosts refuse it within a second. Revoking it again changes nothing.',
    answers: { 200: { description: 'The key as it is now.', schema: adminKey } },
    errors: ['KEY_NOT_FOUND', 'KEY_NOT_ALLOWED'],
  },
};

export const keyEndpoints: readonly AdminEndpoint[] = [keyListing, keyCreation, keyChanging, keyRevocation];
