// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { adminModelList } from './models.js';

const common = { method: 'GET', role: 'viewer' } as const;

export const modelListing: AdminEndpoint = {
  ...common,
  path: '/v1/admin/models',
  operation: {
    id: 'listAdminModels',
    tag: 'Admin',
    summary: 'The served models with their figures.',
    answers: { 200: { description: 'The models.', schema: adminModelList } },
    errors: [],
  },
};

export const modelCard: AdminEndpoint = {
  ...common,
  path: '/v1/admin/models/{id}/card',
  parameter: { name: 'id', description: 'Exact id of the model.', example: 'detector-large-2026-11-25' },
  operation: {
    id: 'getAdminModelCard',
    tag: 'Admin',
    summary: 'The card of a served model.',
    answers: { 200: { description: 'The card, in Markdown.', contentType: 'text/markdown' } },
    errors: ['CARD_NOT_FOUND'],
  },
};

export const modelEndpoints: readonly AdminEndpoint[] = [modelListing, modelCard];
