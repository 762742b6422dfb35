// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from './database.js';

/** The database's own clock, since those of several hosts differ: in whole milliseconds, as `Date.now()`. */
export const nowMs: Readonly<Record<Dialect, string>> = {
  sqlite: "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)",
  postgres: 'CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)',
};
