// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';
import { initial } from './0001-initial.js';
import { profiles } from './0002-profiles.js';
import { byAccount } from './0003-by-account.js';
import { failureFiles } from './0004-failure-files.js';

/** In the order in which they are applied. New ones come last; a released one never changes. */
export const migrations: readonly Migration[] = [initial, profiles, byAccount, failureFiles];
