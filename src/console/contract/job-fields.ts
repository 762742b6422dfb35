// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import type { Fields } from '../../base/contract/operation.js';
import { jobListSchemas } from '../../jobs/contract/job-fields.js';
import { deliveryStates } from '../../jobs/contract/webhook.js';
import { accountField } from './key-fields.js';

const tasks = ['predict', 'enroll', 'batch'] as const;

const filterSchemas = {
  state: jobListSchemas.state,
  task: {
    type: 'string',
    enum: tasks,
    expected: `one of ${tasks.join(', ')}`,
    description: 'Only jobs with this task.',
  },
  account: { ...accountField, description: 'Only jobs of this account.' },
  key: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    expected: 'the id of a key',
    description: 'Only jobs of the key with this id.',
  },
  limit: jobListSchemas.limit,
} as const satisfies FieldSchemas;

/** The query of `GET /v1/admin/jobs`. */
const adminJobListSchemas = {
  ...filterSchemas,
  cursor: jobListSchemas.cursor,
} as const satisfies FieldSchemas;

export const adminJobListRequest = {
  schemas: adminJobListSchemas,
  example: { state: 'failed', limit: '20' },
} as const satisfies Fields;

/** The query of `GET /v1/admin/jobs/events`. */
export const adminJobWatchRequest = {
  schemas: filterSchemas,
  example: { limit: '20' },
} as const satisfies Fields;

const deliverySchemas = {
  state: {
    type: 'string',
    enum: deliveryStates,
    expected: `one of ${deliveryStates.join(', ')}`,
    description: 'Only deliveries in this state.',
  },
  account: { ...accountField, description: 'Only those of this account.' },
  limit: { ...jobListSchemas.limit, description: 'Number of deliveries at most.' },
} as const satisfies FieldSchemas;

/** The query of `GET /v1/admin/deliveries`. */
export const deliveryListRequest = {
  schemas: deliverySchemas,
  example: { state: 'failed', limit: '20' },
} as const satisfies Fields;

export type AdminJobListFields = FieldValues<typeof adminJobListSchemas>;
export type AdminJobWatchFields = FieldValues<typeof filterSchemas>;
export type DeliveryListFields = FieldValues<typeof deliverySchemas>;
