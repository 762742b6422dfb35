// SPDX-License-Identifier: Apache-2.0
//
// This room counts requests of keys with a rate limit in the database, so that the limit holds over all
// hosts.
import type { Database } from '../database/database.js';
import type { RateLimit } from '../keys/api-key.js';

/** A host's figures for one key, and its wish. */
export interface RateQuestion extends RateLimit {
  readonly keyId: string;
  /** The window that `used` belongs to; 0 for the present one, whichever that is. */
  readonly window: number;
  /** Requests accepted without having been granted; negative for grants given back. */
  readonly used: number;
  /** Requests that it would like to accept. */
  readonly wanted: number;
}

export interface RateGrant extends RateLimit {
  readonly keyId: string;
  /** Names the window. */
  readonly window: number;
  /** Until the window ends; negative if it is over. */
  readonly leftMs: number;
  /** Requests that the host may accept in this window. */
  readonly granted: number;
  /** Used by or granted to all hosts, in this window. */
  readonly taken: number;
}

type GrantRow = {
  readonly key_id: string;
  readonly requests: number;
  readonly window_s: number;
  readonly ends_at_ms: number;
  readonly left_ms: number;
  readonly granted: number;
  readonly taken: number;
};

const TIMEOUT_MS = 1000;
/** A window that has ended for this time counts as one that has not begun. */
const KEPT_MS = 3_600_000;

const nowMs = '(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT';
const isCurrent = 'w.ends_at_ms > excluded.ends_at_ms - 1000 * excluded.window_s';
/** Taken before this question is granted anything. */
const before = `GREATEST(0, CASE WHEN ${isCurrent} THEN w.taken ELSE 0 END
  + CASE WHEN excluded.asked_window IN (0, CASE WHEN ${isCurrent} THEN w.ends_at_ms ELSE 0 END) THEN excluded.asked_used ELSE 0 END)`;
const granted = `LEAST(excluded.asked, GREATEST(0, w.requests - ${before}))`;

/** One statement for all keys, in one order on all hosts, so that no two wait for each other. */
const take = `
  INSERT INTO rate_windows AS w
    (key_id, requests, window_s, ends_at_ms, taken, asked_window, asked_used, asked, granted)
  SELECT key_id, requests, window_s, ${nowMs} + 1000 * window_s,
    used_now + LEAST(wanted, GREATEST(0, requests - used_now)), "window", used, wanted,
    LEAST(wanted, GREATEST(0, requests - used_now))
  FROM jsonb_to_recordset($1::JSONB) AS question
    (key_id TEXT, requests BIGINT, window_s BIGINT, "window" BIGINT, used BIGINT, wanted BIGINT),
    LATERAL (SELECT CASE WHEN "window" = 0 THEN GREATEST(0, used) ELSE 0 END AS used_now) AS fresh
  ORDER BY key_id, requests, window_s
  ON CONFLICT (key_id, requests, window_s) DO UPDATE SET
    taken = ${before} + ${granted},
    granted = ${granted},
    ends_at_ms = CASE WHEN ${isCurrent} OR (excluded.asked = 0 AND excluded.asked_window <> 0)
      THEN w.ends_at_ms ELSE excluded.ends_at_ms END,
    asked_window = excluded.asked_window, asked_used = excluded.asked_used, asked = excluded.asked
  RETURNING key_id, requests, window_s, ends_at_ms, ends_at_ms - ${nowMs} AS left_ms, granted, taken`;

/** Without waiting for rows that `take` has, as that would wait for these. */
const removeEnded = `
  DELETE FROM rate_windows WHERE (key_id, requests, window_s) IN (
    SELECT key_id, requests, window_s FROM rate_windows WHERE ends_at_ms < ${nowMs} - ${KEPT_MS}
    FOR UPDATE SKIP LOCKED)`;

/**
 * The windows of all rate limits, in a PostgreSQL database that several hosts share. By its clock, and never more is granted
 * than a limit allows.
 */
export class RateWindows {
  readonly #database: Database;
  #removedAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param questions one per key and limit
   * @throws DatabaseError; the questions may have been counted all the same, so that less is left
   */
  async take(questions: readonly RateQuestion[]): Promise<RateGrant[]> {
    const asked = questions.map(({ keyId, windowS, ...rest }) => ({
      key_id: keyId,
      window_s: windowS,
      ...rest,
    }));
    const rows = await this.#database.queryPromptly<GrantRow>(take, [JSON.stringify(asked)], TIMEOUT_MS);
    await this.#removeEnded();
    return rows.map((row) => ({
      keyId: row.key_id,
      requests: row.requests,
      windowS: row.window_s,
      window: row.ends_at_ms,
      leftMs: row.left_ms,
      granted: row.granted,
      taken: row.taken,
    }));
  }

  /** Windows of unused keys would stay forever, and the dashboard makes new keys all the time. */
  async #removeEnded(): Promise<void> {
    const sinceMs = performance.now() - this.#removedAtMs;
    if (sinceMs < KEPT_MS) return;
    this.#removedAtMs = performance.now();
    // Another time will do.
    await this.#database.queryPromptly(removeEnded, [], TIMEOUT_MS).catch(() => {});
  }
}
