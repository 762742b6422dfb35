// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { jsonErrors } from '../../base/contract/error-groups.js';
import { adminDrift, driftReference } from './drift.js';
import { adminHealth } from './health.js';
import { driftRequest, healthRequest, referenceRequest } from './health-fields.js';

export const healthLookup: AdminEndpoint = {
  method: 'GET',
  path: '/v1/admin/health',
  role: 'viewer',
  operation: {
    id: 'getAdminHealth',
    tag: 'Admin',
    summary: 'State of the server, and its history of the last hour or day.',
    description: 'Covers all processes of the host that answers.',
    query: healthRequest,
    answers: { 200: { description: 'State and history.', schema: adminHealth } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const driftLookup: AdminEndpoint = {
  method: 'GET',
  path: '/v1/admin/drift',
  role: 'viewer',
  operation: {
    id: 'getDrift',
    tag: 'Admin',
    summary: 'Score drift of each detector.',
    description:
      'Compares the distribution of scores with an earlier one, over all hosts with the same database. A change means other recordings, microphones or senders, and not necessarily wrong verdicts.',
    query: driftRequest,
    answers: { 200: { description: 'The distributions of each loaded detector.', schema: adminDrift } },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED'],
  },
};

export const referenceChoice: AdminEndpoint = {
  method: 'POST',
  path: '/v1/admin/drift/reference',
  role: 'admin',
  operation: {
    id: 'chooseDriftReference',
    tag: 'Admin',
    summary: 'Make the last hours the reference.',
    description: 'Replaces the reference of one detector, on all hosts with the same database.',
    json: referenceRequest,
    answers: { 200: { description: 'The new reference.', schema: driftReference } },
    errors: [...jsonErrors, 'FIELD_INVALID'],
  },
};

export const adminHealthEndpoints: readonly AdminEndpoint[] = [healthLookup, driftLookup, referenceChoice];
