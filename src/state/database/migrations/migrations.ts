// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';
import { initial } from './0001-initial.js';
import { profiles } from './0002-profiles.js';

/** An account's uploads are counted with each new one. */
const awaitedUploadsOfAccounts: Migration = {
  name: '0003-awaited-uploads-of-accounts',
  sql: 'CREATE INDEX awaited_uploads_of_accounts ON awaited_uploads (account, until_ms);',
};

/** In the order in which they are applied. New ones come last; a released one never changes. */
export const migrations: readonly Migration[] = [initial, profiles, awaitedUploadsOfAccounts];
