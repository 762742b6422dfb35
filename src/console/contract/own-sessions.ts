// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { adminSessionsEnded } from './user.js';

/** One of the signed-in user's sessions. */
const ownSession = {
  title: 'OwnSession',
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id of the session in paths. It signs nobody in.' },
    is_current: { type: 'boolean', description: 'Whether this request belongs to it.' },
    created_at: { type: 'string', description: 'Time of the sign-in.' },
    last_used_at: { type: 'string', description: 'Time of its latest request, to within a minute.' },
    expires_at: { type: 'string', description: 'Its end at the latest.' },
    client_address: {
      type: ['string', 'null'],
      description: 'Address of the sign-in; null if it was before the server kept it.',
    },
    user_agent: {
      type: ['string', 'null'],
      description:
        'The name that the browser gave itself then, in at most 200 characters; null if it gave none.',
    },
  },
  required: ['id', 'is_current', 'created_at', 'last_used_at', 'expires_at', 'client_address', 'user_agent'],
  additionalProperties: false,
  examples: [
    {
      id: '9c1f0a7be2d4',
      is_current: true,
      created_at: '2026-11-21T12:00:00.000Z',
      last_used_at: '2026-11-21T15:30:00.000Z',
      expires_at: '2026-11-28T12:00:00.000Z',
      client_address: '192.0.2.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    },
  ],
} as const satisfies Schema;

const ownSessionList = {
  title: 'OwnSessionList',
  type: 'object',
  properties: {
    sessions: { type: 'array', items: ownSession, description: 'The last used first.' },
  },
  required: ['sessions'],
  additionalProperties: false,
  examples: [{ sessions: [ownSession.examples[0]] }],
} as const satisfies Schema;

export type OwnSession = BodyOf<typeof ownSession>;
export type OwnSessionList = BodyOf<typeof ownSessionList>;

const common = { role: 'viewer', path: '/v1/admin/sessions' } as const;

export const ownSessionListing: AdminEndpoint = {
  ...common,
  method: 'GET',
  operation: {
    id: 'listOwnSessions',
    tag: 'Admin',
    summary: 'List your own sessions.',
    answers: { 200: { description: 'Those that have not ended.', schema: ownSessionList } },
    errors: ['SESSION_REQUIRED'],
  },
};

export const ownSessionEnd: AdminEndpoint = {
  ...common,
  method: 'DELETE',
  path: '/v1/admin/sessions/',
  parameter: { name: 'id', description: 'Id of the session.', example: '9c1f0a7be2d4' },
  operation: {
    id: 'endOwnSession',
    tag: 'Admin',
    summary: 'End one of your own sessions.',
    description: 'It may be the one of the request.',
    answers: { 200: { description: 'The session has ended.', schema: adminSessionsEnded } },
    errors: ['SESSION_REQUIRED', 'SESSION_NOT_FOUND'],
  },
};

export const otherSessionsEnd: AdminEndpoint = {
  ...common,
  method: 'DELETE',
  operation: {
    id: 'endOtherSessions',
    tag: 'Admin',
    summary: 'End all your other sessions.',
    answers: { 200: { description: 'They have ended.', schema: adminSessionsEnded } },
    errors: ['SESSION_REQUIRED'],
  },
};

export const ownSessionEndpoints = [ownSessionListing, ownSessionEnd, otherSessionsEnd];
