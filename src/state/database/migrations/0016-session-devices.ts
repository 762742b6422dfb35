// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** Where sessions began, for their users. Null for earlier ones. */
export const sessionDevices: Migration = {
  name: '0016-session-devices',
  sql: `
    ALTER TABLE admin_sessions ADD COLUMN client_address TEXT;
    ALTER TABLE admin_sessions ADD COLUMN user_agent TEXT;
  `,
};
