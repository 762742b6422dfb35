// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from './database.js';

/** At the end of a query for rows to take: it waits for none that others take at this moment. SQLite has one writer at a time. */
export const skipLocked: Readonly<Record<Dialect, string>> = {
  sqlite: '',
  postgres: ' FOR UPDATE SKIP LOCKED',
};
