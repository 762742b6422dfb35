// SPDX-License-Identifier: Apache-2.0
import { pageAfter } from '../../api/routes/paging.js';
import { jsonReply, type Reply, type Route, type RouteRequest } from '../../api/routes/route.js';
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isDay } from '../../state/data-folder/days.js';
import { DEFAULT_ACCOUNT, type NewKey, type StoredKey } from '../../state/keys/api-key.js';
import { KeyRefused } from '../../state/keys/key-check.js';
import { type KeyChange, KeyIsRevoked, KeyRules } from '../../state/keys/key-rules.js';
import type { KeyTable } from '../../state/keys/key-table.js';
import { publicKey } from '../../state/keys/public-key.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import type { UsageTable } from '../../state/records/usage-table.js';
import { keyChanging, keyCreation, keyListing, keyRevocation } from '../contract/key-endpoints.js';
import type { KeyChangeFields, KeyListFields, NewKeyFields } from '../contract/key-fields.js';
import type { AdminCreatedKey, AdminKey, AdminKeyList } from '../contract/keys.js';
import { accountOfList } from './accounts.js';
import { changedFields, jsonFields, parameterIn, queryFields } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { refuseBeyondNumber, refuseBeyondRole, refuseForeign, type ServerLimits } from './key-rights.js';
import { actedBy, type Principal } from './principal.js';

export interface KeyRoutesParts {
  readonly keyTable: KeyTable;
  readonly usageTable: UsageTable;
  readonly noteFirst: (event: AuditEvent) => Promise<void>;
  readonly config: ServerLimits & Pick<Config, 'receiveTimeoutMs'>;
}

const SECRET_HEADERS = [['cache-control', 'no-store']] as const;

/** `/v1/admin/keys`. */
export function keyRoutes(guard: Gatekeeper, parts: KeyRoutesParts): Route[] {
  const { config } = parts;
  const newKey = jsonFields<NewKeyFields>(keyCreation, config.receiveTimeoutMs);
  const change = changedFields<KeyChangeFields>(keyChanging, config.receiveTimeoutMs);
  const filter = queryFields<KeyListFields>(keyListing);
  const handlers = new KeyHandlers(parts);
  return [
    adminRoute(guard, keyListing, (principal, request) => handlers.list(principal, filter(request))),
    adminRoute(guard, keyCreation, async (principal, request) =>
      handlers.create(principal, await newKey(request)),
    ),
    adminRoute(guard, keyChanging, async (principal, request) =>
      handlers.change(principal, idIn(request), await change(request)),
    ),
    adminRoute(guard, keyRevocation, (principal, request) => handlers.revoke(principal, idIn(request))),
  ];
}

const idIn = (request: RouteRequest): string => parameterIn(request, keyChanging);

class KeyHandlers {
  readonly #parts: KeyRoutesParts;

  constructor(parts: KeyRoutesParts) {
    this.#parts = parts;
  }

  async list(principal: Principal, { account, state, kind, limit, cursor }: KeyListFields): Promise<Reply> {
    const now = new Date();
    const asked = {
      account: accountOfList(principal, account),
      ...(state === 'active' && { isActiveAt: now }),
      ...(kind !== undefined && { endsWithSession: kind === 'page' }),
    };
    const page = await pageAfter(cursor, () => this.#parts.keyTable.page(asked, Number(limit), cursor));
    const keys = await this.#bodiesOf(page.keys, now);
    return jsonReply<AdminKeyList>(200, { keys, next_cursor: page.cursor ?? null });
  }

  async create(principal: Principal, fields: NewKeyFields): Promise<Reply> {
    const { name, account = principal.account ?? DEFAULT_ACCOUNT, scopes } = fields;
    const { rate, concurrency, expiresAt } = limitsIn(fields);
    const wanted: NewKey = {
      ...{ name, account, scopes },
      ...(rate && { rate }),
      ...(typeof concurrency === 'number' && { concurrency }),
      ...(expiresAt && { expiresAt }),
    };
    refuseBeyondRole(principal, wanted, this.#parts.config);
    await refuseBeyondNumber(principal, account, this.#parts.keyTable);
    const { key, text } = await explained(() => this.#rulesOf(principal).create(wanted));
    const body = { ...publicKey(key, new Date()), last_used_day: null, key: text };
    return { ...jsonReply<AdminCreatedKey>(201, body), headers: SECRET_HEADERS };
  }

  async change(principal: Principal, id: string, fields: KeyChangeFields): Promise<Reply> {
    const { name, scopes } = fields;
    const change: KeyChange = {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...limitsIn(fields),
    };
    const { rate, concurrency } = change;
    const key = await this.#parts.keyTable.find(id);
    refuseForeign(principal, key);
    refuseLongerLife(key, fields);
    const limits = { rate: rate ?? undefined, concurrency: concurrency ?? undefined };
    refuseBeyondRole(principal, { scopes, ...limits }, this.#parts.config);
    return this.#reply(await explained(() => this.#rulesOf(principal).change(id, change)));
  }

  async revoke(principal: Principal, id: string): Promise<Reply> {
    const { keyTable } = this.#parts;
    refuseForeign(principal, await keyTable.find(id));
    await this.#rulesOf(principal).revoke(id);
    return this.#reply(await keyTable.find(id));
  }

  async #reply(key: StoredKey | undefined): Promise<Reply> {
    const [body] = await this.#bodiesOf(key === undefined ? [] : [key], new Date());
    if (body === undefined) throw new ServiceError('KEY_NOT_FOUND');
    return jsonReply<AdminKey>(200, body);
  }

  async #bodiesOf(keys: readonly StoredKey[], now: Date): Promise<AdminKey[]> {
    const lastDays = await this.#parts.usageTable.lastDays(keys.map(({ id }) => id));
    return keys.map((key) => ({ ...publicKey(key, now), last_used_day: lastDays.get(key.id) ?? null }));
  }

  #rulesOf(principal: Principal): KeyRules {
    const { keyTable, noteFirst } = this.#parts;
    return new KeyRules(keyTable, (event) => noteFirst({ ...event, ...actedBy(principal) }));
  }
}

/** The page that made such a key promises that it ends soon. @throws ServiceError FIELD_INVALID */
function refuseLongerLife({ endsWithSession }: StoredKey, { expires_at }: KeyChangeFields): void {
  if (!endsWithSession || expires_at === undefined) return;
  const expected = 'no change for a key of a session, which ends by itself';
  throw new ServiceError('FIELD_INVALID', { field: 'expires_at', expected, received: String(expires_at) });
}

/** The given limits; null takes one away. @throws ServiceError FIELD_INVALID for a day that does not exist */
function limitsIn({
  rate,
  concurrency,
  expires_at,
}: KeyChangeFields): Pick<KeyChange, 'rate' | 'concurrency' | 'expiresAt'> {
  if (expires_at && !isDay(expires_at.slice(0, 10))) {
    const expected = 'a day of the calendar';
    throw new ServiceError('FIELD_INVALID', { field: 'expires_at', expected, received: expires_at });
  }
  return {
    ...(rate !== undefined && { rate: rate && { requests: rate.requests, windowS: rate.window_s } }),
    ...(concurrency !== undefined && { concurrency }),
    ...(expires_at !== undefined && { expiresAt: expires_at === null ? null : new Date(expires_at) }),
  };
}

/** @throws ServiceError for violations of the rules for keys */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyIsRevoked) throw new ServiceError('KEY_REVOKED');
    if (!(error instanceof KeyRefused)) throw error;
    const { field, expected, received } = error;
    throw new ServiceError('FIELD_INVALID', { field, expected, received });
  }
}
