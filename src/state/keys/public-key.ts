// SPDX-License-Identifier: Apache-2.0
import { isActive, type StoredKey } from './api-key.js';

/** An operator's view of a key, from a shell and over HTTP: nothing of its secret. */
export const publicKey = (key: StoredKey, now: Date) => ({
  id: key.id,
  name: key.name,
  account: key.account,
  scopes: key.scopes,
  ends_with_session: key.endsWithSession === true,
  active: isActive(key, now),
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  rate: key.rate === undefined ? null : { requests: key.rate.requests, window_s: key.rate.windowS },
  concurrency: key.concurrency ?? null,
});
