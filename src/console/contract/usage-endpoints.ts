// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import { adminUsage, MAX_USAGE_ROWS, usageRequest } from './usage.js';

const common = { method: 'GET', role: 'viewer' } as const;
const errors = ['FIELD_INVALID', 'FIELD_REPEATED'] as const;

export const usageLookup: AdminEndpoint = {
  ...common,
  path: '/v1/admin/usage',
  operation: {
    id: 'getAdminUsage',
    tag: 'Admin',
    summary: 'Usage by key and UTC day.',
    description:
      `At most ${MAX_USAGE_ROWS} rows: ask for fewer days or one account if there are more. Includes the latest counts of this process; ` +
      'other processes and hosts add theirs every two seconds.',
    query: usageRequest,
    answers: { 200: { description: 'The usage.', schema: adminUsage } },
    errors,
  },
};

export const usageCsv: AdminEndpoint = {
  ...common,
  path: '/v1/admin/usage.csv',
  operation: {
    id: 'getAdminUsageCsv',
    tag: 'Admin',
    summary: 'Usage as a table for spreadsheets.',
    description:
      'RFC 4180, UTF-8, with a header. A name that a spreadsheet would take for a formula begins with an apostrophe.',
    query: usageRequest,
    answers: {
      200: {
        description: 'The table.',
        contentType: 'text/csv',
        headers: { 'content-disposition': 'A name for the file.' },
      },
    },
    errors,
  },
};

export const usageEndpoints: readonly AdminEndpoint[] = [usageLookup, usageCsv];
