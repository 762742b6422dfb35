// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

const jobs = (real: string): string => `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  task TEXT NOT NULL,
  state TEXT NOT NULL,
  source TEXT NOT NULL,
  parameters TEXT NOT NULL,
  callback_url TEXT,
  idempotency_key TEXT,
  request_hash TEXT NOT NULL,
  priority BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  started_at_ms BIGINT,
  finished_at_ms BIGINT,
  attempts BIGINT NOT NULL DEFAULT 0,
  holder TEXT,
  leased_until_ms BIGINT,
  cursor TEXT,
  saved_steps BIGINT NOT NULL DEFAULT 0,
  audio_s ${real} NOT NULL DEFAULT 0,
  file_progress ${real} NOT NULL DEFAULT 0,
  result TEXT,
  failure_code TEXT,
  failure_message TEXT,
  UNIQUE (account, idempotency_key)
);
CREATE INDEX jobs_by_account ON jobs (account, created_at_ms, id);
CREATE INDEX jobs_unfinished ON jobs (state, priority, created_at_ms) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_finished ON jobs (finished_at_ms) WHERE finished_at_ms IS NOT NULL;
CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  step BIGINT NOT NULL,
  results TEXT NOT NULL,
  PRIMARY KEY (job_id, step)
);`;

/** Only SQLite needs a queue of ours; PostgreSQL has pg-boss. */
const queue = `
CREATE TABLE job_queue (
  place INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  priority BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  due_at_ms BIGINT NOT NULL,
  is_taken BIGINT NOT NULL
);
CREATE INDEX job_queue_order ON job_queue (is_taken, priority DESC, place);`;

export const jobsMigration: Migration = {
  name: '0003-jobs',
  sql: { sqlite: jobs('REAL') + queue, postgres: jobs('DOUBLE PRECISION') },
};
