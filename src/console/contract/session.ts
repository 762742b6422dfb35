// SPDX-License-Identifier: Apache-2.0
import { roles } from '../../base/contract/roles.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';

/** The signed-in user: the answer of `/v1/admin/session`. */
export const adminSession = {
  title: 'AdminSession',
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['user', 'key'], description: 'A person, or a program with an API key.' },
    id: { type: 'string', description: 'Of the user or the key; the audit log has it.' },
    name: { type: 'string', description: "The user's name; for a key, its id." },
    role: { type: 'string', enum: roles, description: 'Their rights.' },
    account: {
      type: ['string', 'null'],
      description: 'They see keys and jobs of this account only; null for all accounts.',
    },
    csrf_token: {
      type: 'string',
      description:
        'For the header `x-csrf-token` of every change with the cookie; empty for keys, which need no token.',
    },
    expires_at: { type: ['string', 'null'], description: 'End of the session at the latest; null for keys.' },
  },
  required: ['kind', 'id', 'name', 'role', 'account', 'csrf_token', 'expires_at'],
  additionalProperties: false,
  examples: [
    {
      kind: 'user',
      id: '5f0c2a9be1d4',
      name: 'ada',
      role: 'developer',
      account: 'acme',
      csrf_token: 'fVb0Yt2m3o3ZrUUyTq3cJYb9bZy5bQm7Gd1x0tqkG3o',
      expires_at: '2026-11-28T12:00:00.000Z',
    },
  ],
} as const satisfies Schema;

export type AdminSession = BodyOf<typeof adminSession>;

/** The answer of `/v1/admin/sign-in`. */
export const signInWays = {
  title: 'SignInWays',
  type: 'object',
  properties: {
    password: { type: 'boolean', description: 'With name and password.' },
    oidc: { type: 'boolean', description: 'With an OpenID provider: `/v1/admin/oidc/start` leads there.' },
  },
  required: ['password', 'oidc'],
  additionalProperties: false,
  examples: [{ password: true, oidc: false }],
} as const satisfies Schema;

export type SignInWays = BodyOf<typeof signInWays>;
