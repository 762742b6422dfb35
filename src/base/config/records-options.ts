// SPDX-License-Identifier: Apache-2.0
import { choice, integer } from './option.js';

/** Records, and how long they are kept. */
export const recordsOptions = {
  audit: choice({
    variable: 'VERAVOX_AUDIT',
    choices: ['file', 'off'],
    default: 'file',
    description:
      '`file` writes one line of about 500 bytes per API request to `audit/<day>.jsonl` in the data folder.',
  }),
  auditDays: integer({
    variable: 'VERAVOX_AUDIT_DAYS',
    default: 30,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'Time to keep audit files, in days on which a server ran; 0 keeps all.',
  }),
  usageDays: integer({
    variable: 'VERAVOX_USAGE_DAYS',
    default: 400,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'Time to keep the usage per key and day, in days on which a server ran; 0 keeps all.',
  }),
};
