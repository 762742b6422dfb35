// SPDX-License-Identifier: Apache-2.0
import { choice, integer } from './option.js';

/** What is noted, and for how long. */
export const recordsOptions = {
  audit: choice({
    variable: 'VERAVOX_AUDIT',
    choices: ['file', 'off'],
    default: 'file',
    description:
      '`file` writes a line per request of the API to `audit/<day>.jsonl` in the data folder, about 400 bytes each.',
  }),
  auditSync: choice({
    variable: 'VERAVOX_AUDIT_SYNC',
    choices: ['off', 'interval', 'each'],
    default: 'interval',
    description:
      'When audit lines are forced to the disk, to outlive a power failure: never, twice a second, or each as soon as its request is over.',
  }),
  auditDays: integer({
    variable: 'VERAVOX_AUDIT_DAYS',
    default: 30,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'How long audit files are kept, in days on which a server ran; 0 keeps all.',
  }),
  usageDays: integer({
    variable: 'VERAVOX_USAGE_DAYS',
    default: 400,
    minimum: 0,
    maximum: 36_500,
    unit: 'days',
    description: 'How long the usage per key and day is kept, in days on which a server ran; 0 keeps all.',
  }),
};
