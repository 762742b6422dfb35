// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint, Endpoint } from '../../base/contract/endpoint.js';
import { jsonErrors } from '../../base/contract/error-groups.js';
import { adminSession, signInWays as ways } from './session.js';
import { adminSessionsEnded } from './user.js';
import { passwordSchemas, signInSchemas } from './user-fields.js';

const path = '/v1/admin/session';

/** For everybody: a page asks before anybody has signed in. */
export const signInWays: Endpoint = {
  method: 'GET',
  path: '/v1/admin/sign-in',
  takesPermit: true,
  operation: {
    id: 'getSignInWays',
    tag: 'Admin',
    summary: 'Ways to sign in.',
    answers: { 200: { description: 'The ways.', schema: ways } },
    errors: [],
  },
};

export const signIn: Endpoint = {
  method: 'POST',
  path,
  takesPermit: true,
  operation: {
    id: 'signIn',
    tag: 'Admin',
    summary: 'Sign in, with a password or a link.',
    json: {
      title: 'SignInFields',
      schemas: signInSchemas,
      required: ['password'],
      example: { name: 'ada', password: 'correct horse battery staple' },
    },
    answers: {
      200: {
        description: 'The session has begun.',
        schema: adminSession,
        headers: { 'set-cookie': 'The session, for browsers.' },
      },
    },
    errors: [
      ...jsonErrors,
      'FIELD_INVALID',
      'CSRF_REFUSED',
      'SIGN_IN_REFUSED',
      'SIGN_IN_LIMITED',
      'LINK_REFUSED',
      'USER_EXISTS',
      'DATABASE_UNAVAILABLE',
    ],
  },
};

export const sessionLookup: AdminEndpoint = {
  method: 'GET',
  path,
  role: 'viewer',
  operation: {
    id: 'getAdminSession',
    tag: 'Admin',
    summary: 'The signed-in user and role.',
    answers: { 200: { description: 'The user or the key.', schema: adminSession } },
    errors: [],
  },
};

export const sessionEnd: AdminEndpoint = {
  method: 'DELETE',
  path,
  role: 'viewer',
  operation: {
    id: 'signOut',
    tag: 'Admin',
    summary: 'Sign out.',
    answers: {
      200: {
        description: 'The session has ended.',
        schema: adminSessionsEnded,
        headers: { 'set-cookie': 'Removes the cookie.' },
      },
    },
    errors: ['SESSION_REQUIRED'],
  },
};

export const passwordChange: AdminEndpoint = {
  method: 'POST',
  path: '/v1/admin/password',
  role: 'viewer',
  operation: {
    id: 'changePassword',
    tag: 'Admin',
    summary: 'Change your own password.',
    description: "The user's other sessions end.",
    json: {
      title: 'PasswordFields',
      schemas: passwordSchemas,
      required: ['password', 'new_password'],
      example: {
        password: 'correct horse battery staple',
        new_password: 'ten other words make a password, too',
      },
    },
    answers: { 200: { description: 'The password is changed.', schema: adminSessionsEnded } },
    errors: [...jsonErrors, 'FIELD_INVALID', 'SIGN_IN_REFUSED', 'SIGN_IN_LIMITED', 'SESSION_REQUIRED'],
  },
};

export const sessionEndpoints = [signInWays, signIn, sessionLookup, sessionEnd, passwordChange];
