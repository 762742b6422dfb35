// SPDX-License-Identifier: Apache-2.0
import { roles } from '../../base/contract/roles.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';

const exampleUser = {
  id: '5f0c2a9be1d4',
  name: 'ada',
  role: 'developer',
  account: 'acme',
  has_password: true,
  issuer: null,
  created_at: '2026-11-21T12:00:00.000Z',
  disabled_at: null,
} as const;

export const adminUser = {
  title: 'AdminUser',
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id of the user in paths and in the audit log.' },
    name: { type: 'string', description: 'Their name for signing in.' },
    role: { type: 'string', enum: roles, description: 'Their rights.' },
    account: {
      type: 'string',
      description:
        'Whose keys and jobs they see, unless they are administrators; the account of their playground.',
    },
    has_password: { type: 'boolean', description: 'Whether they can sign in with a password.' },
    issuer: { type: ['string', 'null'], description: 'Their OpenID provider; null without one.' },
    created_at: { type: 'string', description: 'Time of the creation.' },
    disabled_at: {
      type: ['string', 'null'],
      description: 'Time since which they cannot sign in; null if they can.',
    },
  },
  required: ['id', 'name', 'role', 'account', 'has_password', 'issuer', 'created_at', 'disabled_at'],
  additionalProperties: false,
  examples: [exampleUser],
} as const satisfies Schema;

export const adminUserList = {
  title: 'AdminUserList',
  type: 'object',
  properties: {
    users: { type: 'array', items: adminUser, description: 'The oldest first.' },
  },
  required: ['users'],
  additionalProperties: false,
  examples: [{ users: [exampleUser] }],
} as const satisfies Schema;

const exampleLink = {
  token: 'pD0mBbJ7g0c1a5yqUQyD2c5nQ1m8q0VYg2g4k2m6d9E',
  path: '/dashboard/#/welcome?token=pD0mBbJ7g0c1a5yqUQyD2c5nQ1m8q0VYg2g4k2m6d9E&name=lin',
  expires_at: '2026-11-21T13:00:00.000Z',
};

/** The holder can set the password of its user, once. */
export const adminLink = {
  title: 'AdminLink',
  type: 'object',
  properties: {
    token: {
      type: 'string',
      description: 'For the field `token` of `POST /v1/admin/session`. It is shown only once.',
    },
    path: { type: 'string', description: 'Address of the page for choosing a password.' },
    expires_at: { type: 'string', description: 'It works once, until then.' },
  },
  required: ['token', 'path', 'expires_at'],
  additionalProperties: false,
  examples: [exampleLink],
} as const satisfies Schema;

export const adminInvitation = {
  title: 'AdminInvitation',
  type: 'object',
  properties: { user: adminUser, link: adminLink },
  required: ['user', 'link'],
  additionalProperties: false,
  examples: [{ user: { ...exampleUser, has_password: false }, link: exampleLink }],
} as const satisfies Schema;

export const adminSessionsEnded = {
  title: 'AdminSessionsEnded',
  type: 'object',
  properties: { sessions: { type: 'integer', minimum: 0, description: 'Number of ended sessions.' } },
  required: ['sessions'],
  additionalProperties: false,
  examples: [{ sessions: 1 }],
} as const satisfies Schema;

export type AdminUser = BodyOf<typeof adminUser>;
export type AdminUserList = BodyOf<typeof adminUserList>;
export type AdminLink = BodyOf<typeof adminLink>;
export type AdminInvitation = BodyOf<typeof adminInvitation>;
export type AdminSessionsEnded = BodyOf<typeof adminSessionsEnded>;
