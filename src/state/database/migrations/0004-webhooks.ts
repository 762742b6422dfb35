// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** The log of deliveries goes with its job. */
const tables = `
CREATE TABLE webhook_secrets (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  secret TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  ends_at_ms BIGINT
);
CREATE INDEX webhook_secrets_by_account ON webhook_secrets (account);
CREATE TABLE webhook_deliveries (
  id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  all_attempts BIGINT NOT NULL DEFAULT 0,
  created_at_ms BIGINT NOT NULL,
  due_at_ms BIGINT,
  finished_at_ms BIGINT,
  holder TEXT,
  leased_until_ms BIGINT
);
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account, created_at_ms);
CREATE INDEX webhook_deliveries_unfinished ON webhook_deliveries (state) WHERE state IN ('waiting', 'sending');
CREATE TABLE webhook_attempts (
  delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  attempt BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  status BIGINT,
  problem TEXT,
  PRIMARY KEY (delivery_id, attempt)
);`;

const queue = `
CREATE TABLE webhook_queue (
  place INTEGER PRIMARY KEY,
  delivery_id TEXT NOT NULL UNIQUE REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  due_at_ms BIGINT NOT NULL,
  is_taken BIGINT NOT NULL
);
CREATE INDEX webhook_queue_order ON webhook_queue (is_taken, due_at_ms);`;

export const webhooks: Migration = {
  name: '0004-webhooks',
  sql: { sqlite: tables + queue, postgres: tables },
};
