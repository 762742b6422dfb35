// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/**
 * How many scores of a model fell where: `kind` is `file` or `window`, `hour` counts from 1970, `bin` from 0. A reference is what
 * they are compared with; `is_whole` is 0 while it still grows.
 */
export const scoreDrift: Migration = {
  name: '0011-score-drift',
  sql: `
    CREATE TABLE score_counts (
      model TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      kind TEXT NOT NULL,
      hour BIGINT NOT NULL,
      bin BIGINT NOT NULL,
      scores BIGINT NOT NULL,
      PRIMARY KEY (model, fingerprint, kind, hour, bin)
    );
    CREATE TABLE score_references (
      model TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      origin TEXT NOT NULL,
      is_whole BIGINT NOT NULL,
      made_at_ms BIGINT NOT NULL,
      PRIMARY KEY (model, fingerprint)
    );
    CREATE TABLE score_reference_counts (
      model TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      kind TEXT NOT NULL,
      bin BIGINT NOT NULL,
      scores BIGINT NOT NULL,
      PRIMARY KEY (model, fingerprint, kind, bin)
    );
  `,
};
