// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from './database.js';

/** At the end of a query for rows to take: those that others take at this moment are not waited for. SQLite has one writer at a time. */
export const skipLocked: Readonly<Record<Dialect, string>> = {
  sqlite: '',
  postgres: ' FOR UPDATE SKIP LOCKED',
};
