// SPDX-License-Identifier: Apache-2.0
import { jsonReply, type Route } from '../../api/routes/route.js';
import type { Scope } from '../../base/contract/scopes.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { newKey } from '../../state/keys/api-key.js';
import { type PlaygroundKey, playgroundKeyCreation } from '../contract/playground-key.js';
import { SessionKeys } from '../users/session-keys.js';
import type { AdminGuard } from './admin-guard.js';
import type { AdminParts } from './admin-parts.js';
import { adminRoute } from './admin-route.js';
import { actedBy } from './principal.js';
import { signedInOf } from './session-routes.js';

const LIFETIME_MS = 3_600_000;
const granted: readonly Scope[] = ['predict', 'voiceid', 'file'];

/** `POST /v1/admin/playground-key`. */
export function playgroundRoute(parts: AdminParts, guard: AdminGuard): Route {
  const keys = new SessionKeys(parts.database);
  return adminRoute(guard, playgroundKeyCreation, async (principal) => {
    const { session, user } = signedInOf(principal);
    const expiresAt = new Date(Math.min(Date.now() + LIFETIME_MS, session.endsAtMs));
    const name = `playground of ${user.name}`;
    const { key, text } = newKey({
      name,
      account: user.account,
      scopes: granted,
      expiresAt,
      endsWithSession: true,
    });
    const { id: keyId, account } = key;
    const act = { event: 'key_created', keyId, account, scopes: granted, ...actedBy(principal) };
    const removed = await keys.add(session.id, key, () => parts.noteFirst(act));
    if (removed === undefined) throw new ServiceError('SIGN_IN_REQUIRED');
    if (removed.length > 0) parts.note({ event: 'keys_removed', keyIds: removed });
    return jsonReply<PlaygroundKey>(201, {
      key: text,
      id: key.id,
      scopes: granted,
      expires_at: expiresAt.toISOString(),
    });
  });
}
