// SPDX-License-Identifier: Apache-2.0
import type { Dialect } from './database.js';

/** The database's own clock: the clocks of several hosts differ. */
export const nowMs: Readonly<Record<Dialect, string>> = {
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  postgres: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
};
