// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/**
 * `revisions` counts changes in the order of their commits, so that a server can ask for what is new. Keys that end with a session
 * of the dashboard can be removed with it.
 */
const keys = `
CREATE TABLE revisions (topic TEXT PRIMARY KEY, revision BIGINT NOT NULL);
INSERT INTO revisions (topic, revision) VALUES ('keys', 0), ('operating-points', 0), ('admin', 0);
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  account TEXT NOT NULL,
  scopes TEXT NOT NULL,
  rate_requests BIGINT,
  rate_window_s BIGINT,
  concurrency BIGINT,
  secret_sha256 TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT,
  revoked_at_ms BIGINT,
  ends_with_session BIGINT NOT NULL DEFAULT 0,
  revision BIGINT NOT NULL
);
CREATE INDEX api_keys_by_revision ON api_keys (revision);
CREATE INDEX api_keys_of_sessions ON api_keys (created_at_ms) WHERE ends_with_session = 1;`;

/** `usage_batches` has the ids of counts that were added, so that adding them again changes nothing. */
const usage = `
CREATE TABLE usage_counts (
  day TEXT NOT NULL,
  key_id TEXT NOT NULL,
  account TEXT NOT NULL,
  route TEXT NOT NULL,
  requests BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  audio_s DOUBLE PRECISION NOT NULL,
  windows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (day, key_id, route, account)
);
CREATE INDEX usage_counts_by_key ON usage_counts (key_id, day);
CREATE TABLE usage_batches (id TEXT PRIMARY KEY, added_at_ms BIGINT NOT NULL);`;

/**
 * Jobs, and their queue. `home` is where a stored file lies, a data folder or a bucket; links, which every host can follow, have
 * none. `traceparent` is that of the request that made the job.
 *
 * A batch is a job, and so is each line of its manifest: it waits in the table until the batch puts it into the queue. The rule
 * that a line is there once keeps a broken reading of the manifest from adding it again.
 */
const jobs = `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  task TEXT NOT NULL,
  state TEXT NOT NULL,
  source TEXT NOT NULL,
  home TEXT,
  parameters TEXT NOT NULL,
  callback_url TEXT,
  idempotency_key TEXT,
  request_hash TEXT NOT NULL,
  traceparent TEXT,
  priority BIGINT NOT NULL,
  due_at_ms BIGINT NOT NULL DEFAULT 0,
  created_at_ms BIGINT NOT NULL,
  started_at_ms BIGINT,
  finished_at_ms BIGINT,
  attempts BIGINT NOT NULL DEFAULT 0,
  tries BIGINT NOT NULL DEFAULT 0,
  holder TEXT,
  leased_until_ms BIGINT,
  cursor TEXT,
  saved_steps BIGINT NOT NULL DEFAULT 0,
  audio_s DOUBLE PRECISION NOT NULL DEFAULT 0,
  file_progress DOUBLE PRECISION NOT NULL DEFAULT 0,
  result TEXT,
  failure_code TEXT,
  failure_message TEXT,
  batch_id TEXT REFERENCES jobs (id) ON DELETE CASCADE,
  line BIGINT,
  label TEXT,
  lines_read BIGINT NOT NULL DEFAULT 0,
  UNIQUE (account, idempotency_key)
);
CREATE INDEX jobs_queued ON jobs (priority DESC, created_at_ms) WHERE state = 'queued' AND task <> 'batch';
CREATE INDEX jobs_queued_by_account ON jobs (account) WHERE state = 'queued' AND task <> 'batch';
CREATE INDEX jobs_running ON jobs (id) WHERE state = 'running';
CREATE INDEX jobs_unfinished ON jobs (account) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_finished ON jobs (finished_at_ms) WHERE finished_at_ms IS NOT NULL;
CREATE INDEX jobs_by_account ON jobs (account, created_at_ms, id);
CREATE INDEX jobs_of_clients ON jobs (account, created_at_ms, id) WHERE batch_id IS NULL;
CREATE INDEX jobs_by_time ON jobs (created_at_ms, id) WHERE batch_id IS NULL;
CREATE UNIQUE INDEX jobs_of_batch ON jobs (batch_id, line) WHERE batch_id IS NOT NULL;
CREATE INDEX jobs_of_batch_by_state ON jobs (batch_id, state, line) WHERE batch_id IS NOT NULL;
CREATE INDEX batches_unfinished ON jobs (created_at_ms) WHERE task = 'batch' AND state IN ('queued', 'running');
CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  step BIGINT NOT NULL,
  results TEXT NOT NULL,
  PRIMARY KEY (job_id, step)
);
CREATE TABLE batch_manifests (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  manifest TEXT NOT NULL
);`;

/** The log of deliveries goes with its job. */
const webhooks = `
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
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (due_at_ms) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_waiting_by_account ON webhook_deliveries (account, due_at_ms) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_unfinished ON webhook_deliveries (state) WHERE state IN ('waiting', 'sending');
CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account, created_at_ms);
CREATE TABLE webhook_attempts (
  delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  attempt BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  status BIGINT,
  problem TEXT,
  PRIMARY KEY (delivery_id, attempt)
);`;

/** `point` is a JSON text. */
const operatingPoints = `
CREATE TABLE operating_points (
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  point TEXT NOT NULL,
  revision BIGINT NOT NULL,
  PRIMARY KEY (name, model)
);`;

/** Uploads to a bucket, of which nobody tells us. */
const awaitedUploads = `
CREATE TABLE awaited_uploads (
  home TEXT NOT NULL,
  name TEXT NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  asked_at_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  look_at_ms BIGINT NOT NULL,
  PRIMARY KEY (home, name)
);
CREATE INDEX awaited_uploads_due ON awaited_uploads (look_at_ms);`;

/**
 * Counts of a model's scores: `kind` is `file` or `window`, `hour` counts from 1970, `bin` from 0. They are compared with a reference,
 * whose `is_whole` is 0 while it still grows.
 */
const scoreDrift = `
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
);`;

/**
 * Secrets are stored hashed: passwords by scrypt, sessions and links, which are random, by SHA-256. Each open page of a session has
 * a key of its own.
 */
const users = `
CREATE TABLE admin_users (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  folded_name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  account TEXT NOT NULL,
  password TEXT,
  oidc_issuer TEXT,
  oidc_subject TEXT,
  created_at_ms BIGINT NOT NULL,
  disabled_at_ms BIGINT,
  revision BIGINT NOT NULL
);
CREATE UNIQUE INDEX admin_users_by_subject ON admin_users (oidc_issuer, oidc_subject);
CREATE TABLE admin_sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES admin_users (id) ON DELETE CASCADE,
  created_at_ms BIGINT NOT NULL,
  used_at_ms BIGINT NOT NULL,
  ends_at_ms BIGINT NOT NULL,
  revoked_at_ms BIGINT,
  client_address TEXT,
  user_agent TEXT,
  revision BIGINT NOT NULL
);
CREATE INDEX admin_sessions_by_revision ON admin_sessions (revision);
CREATE INDEX admin_sessions_by_user ON admin_sessions (user_id);
CREATE TABLE admin_session_keys (
  key_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES admin_sessions (id) ON DELETE CASCADE,
  created_at_ms BIGINT NOT NULL
);
CREATE INDEX admin_session_keys_by_session ON admin_session_keys (session_id);
CREATE TABLE admin_links (
  token_sha256 TEXT PRIMARY KEY,
  user_id TEXT REFERENCES admin_users (id) ON DELETE CASCADE,
  ends_at_ms BIGINT NOT NULL
);
CREATE TABLE sign_in_attempts (
  subject TEXT PRIMARY KEY,
  attempts BIGINT NOT NULL,
  last_at_ms BIGINT NOT NULL,
  free_at_ms BIGINT NOT NULL
);`;

/**
 * Shared by hosts; a SQLite database has one, which counts in memory and has its secrets in its data folder.
 *
 * `rate_windows` has one row per key and limit. It is unlogged, because a window is not worth a write to the disk: after a crash of
 * PostgreSQL all windows begin anew. `asked*` and `granted` are the last question and its answer. `shared_secrets` has what all
 * hosts sign with, without `secret` if a setting has it.
 */
const betweenHosts = `
CREATE UNLOGGED TABLE rate_windows (
  key_id TEXT NOT NULL,
  requests BIGINT NOT NULL,
  window_s BIGINT NOT NULL,
  ends_at_ms BIGINT NOT NULL,
  taken BIGINT NOT NULL,
  asked_window BIGINT NOT NULL,
  asked_used BIGINT NOT NULL,
  asked BIGINT NOT NULL,
  granted BIGINT NOT NULL,
  PRIMARY KEY (key_id, requests, window_s)
) WITH (fillfactor = 50);
CREATE TABLE shared_secrets (
  name TEXT PRIMARY KEY,
  secret TEXT,
  fingerprint TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL
);`;

const tables = [keys, usage, jobs, webhooks, operatingPoints, awaitedUploads, scoreDrift, users].join('\n');

export const initial: Migration = {
  name: '0001-initial',
  sql: { sqlite: tables, postgres: `${tables}\n${betweenHosts}` },
};
