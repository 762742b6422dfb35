// SPDX-License-Identifier: Apache-2.0
import type { User } from './user.js';

const HOUR_MS = 3_600_000;

/** A session ends after this time without a request. */
export const IDLE_MS = 12 * HOUR_MS;
/** And after this time in any case. */
export const LIFETIME_MS = 7 * 24 * HOUR_MS;

/** From sign-in to sign-out. */
export interface Session {
  /** The SHA-256 of the cookie's token. */
  readonly id: string;
  readonly userId: string;
  readonly usedAtMs: number;
  /** At the latest. */
  readonly endsAtMs: number;
}

export type SessionRow = {
  readonly id: string;
  readonly user_id: string;
  readonly used_at_ms: number;
  readonly ends_at_ms: number;
  readonly revoked_at_ms: number | null;
  readonly revision: number;
};

export const sessionOf = (row: SessionRow): Session => ({
  id: row.id,
  userId: row.user_id,
  usedAtMs: row.used_at_ms,
  endsAtMs: row.ends_at_ms,
});

/** The device it began on, as far as known. */
export interface Device {
  readonly clientAddress?: string | undefined;
  /** The browser's name for itself. */
  readonly userAgent?: string | undefined;
}

/** With the cookie's token. */
export interface NewSession {
  readonly session: Session;
  readonly user: User;
  readonly token: string;
}
