// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { jsonErrors } from '../../base/contract/error-groups.js';
import { adminInvitation, adminLink, adminSessionsEnded, adminUser, adminUserList } from './user.js';
import { newUserSchemas, userChangeSchemas } from './user-fields.js';

const common = { role: 'admin', path: '/v1/admin/users' } as const;
const parameter = { name: 'id', description: 'Id of the user.', example: '5f0c2a9be1d4' };
const one = { role: 'admin', path: '/v1/admin/users/', parameter } as const;

export const userListing: AdminEndpoint = {
  ...common,
  method: 'GET',
  operation: {
    id: 'listUsers',
    tag: 'Admin',
    summary: 'List the users of the dashboard.',
    answers: { 200: { description: 'All users, including disabled ones.', schema: adminUserList } },
    errors: [],
  },
};

export const userCreation: AdminEndpoint = {
  ...common,
  method: 'POST',
  operation: {
    id: 'createUser',
    tag: 'Admin',
    summary: 'Create a user.',
    description: 'They choose their password with the link in the answer.',
    json: {
      title: 'NewUserFields',
      schemas: newUserSchemas,
      required: ['name', 'role'],
      example: { name: 'ada', role: 'developer', account: 'acme' },
    },
    answers: { 201: { description: 'The user, and the link for them.', schema: adminInvitation } },
    errors: [...jsonErrors, 'FIELD_INVALID', 'USER_EXISTS'],
  },
};

export const userChange: AdminEndpoint = {
  ...one,
  method: 'PATCH',
  operation: {
    id: 'changeUser',
    tag: 'Admin',
    summary: 'Change the role or the account of a user, or disable them.',
    description: 'Any change ends their sessions.',
    json: { title: 'UserChangeFields', schemas: userChangeSchemas, example: { role: 'viewer' } },
    answers: { 200: { description: 'The user.', schema: adminUser } },
    errors: [...jsonErrors, 'FIELD_INVALID', 'USER_NOT_FOUND', 'LAST_ADMIN'],
  },
};

export const userLink: AdminEndpoint = {
  ...one,
  method: 'POST',
  path: '/v1/admin/users/{id}/link',
  operation: {
    id: 'createUserLink',
    tag: 'Admin',
    summary: 'Create a link for setting a new password.',
    answers: { 201: { description: 'The link.', schema: adminLink } },
    errors: ['USER_NOT_FOUND'],
  },
};

export const userSessionsEnd: AdminEndpoint = {
  ...one,
  method: 'DELETE',
  path: '/v1/admin/users/{id}/sessions',
  operation: {
    id: 'endUserSessions',
    tag: 'Admin',
    summary: 'Sign a user out everywhere.',
    answers: { 200: { description: 'The sessions have ended.', schema: adminSessionsEnded } },
    errors: ['USER_NOT_FOUND'],
  },
};

export const userEndpoints = [userListing, userCreation, userChange, userLink, userSessionsEnd];
