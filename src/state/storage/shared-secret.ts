// SPDX-License-Identifier: Apache-2.0
import { createHmac, randomBytes } from 'node:crypto';
import type { Database, Row } from '../database/database.js';

/** Hosts that must agree do not: the one that asks must stop. */
export class OtherSecret extends Error {
  override readonly name = 'OtherSecret';
}

/** This host's own secrets. */
export interface OwnSecret {
  /** By a setting. */
  readonly set?: string | undefined;
  /** In its data folder, from before hosts shared it. */
  readonly found?: string | undefined;
}

export const newSecret = (): string => randomBytes(32).toString('hex');

/** Tells secrets apart without telling anything of them. */
export const fingerprintOf = (secret: string): string =>
  createHmac('sha256', secret).update('fingerprint of the secret').digest('hex').slice(0, 32);

interface StoredSecret extends Row {
  readonly secret: string | null;
  readonly fingerprint: string;
}

/**
 * The secret of this name that all hosts with a PostgreSQL database use. That of the first host becomes everybody's; if it has none, one
 * is made. A secret from a setting is not written into the database, only its fingerprint.
 * @throws OtherSecret if this host has another one, DatabaseError
 */
export async function agreedSecret(
  database: Database,
  name: string,
  { set, found }: OwnSecret,
): Promise<string> {
  const select = 'SELECT secret, fingerprint FROM shared_secrets WHERE name = $1';
  let [stored] = await database.query<StoredSecret>(select, [name]);
  if (stored === undefined) {
    const first = set ?? found ?? newSecret();
    await database.execute(
      'INSERT INTO shared_secrets (name, secret, fingerprint, created_at_ms) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [name, set === undefined ? first : null, fingerprintOf(first), Date.now()],
    );
    // Another host may have been quicker.
    [stored] = await database.query<StoredSecret>(select, [name]);
  }
  if (stored === undefined) throw new Error(`The secret ${name} is not in ${database.name}. This is a bug.`);
  return secretBy(stored, { set, found });
}

function secretBy({ secret, fingerprint }: StoredSecret, { set, found }: OwnSecret): string {
  const isShared = (own: string): boolean => fingerprintOf(own) === fingerprint;
  if (set !== undefined) {
    if (isShared(set)) return set;
    throw new OtherSecret(
      'VERAVOX_STORAGE_SECRET is another one than that of the other hosts with this database, so they would not find each ' +
        "other's files. Set the same on all hosts. The database knows the first one that was used.",
    );
  }
  if (found !== undefined && !isShared(found)) {
    throw new OtherSecret(
      'The accountSecret in storage.json of the data folder is another one than that of the other hosts with this database and ' +
        'bucket. Files that this host stored in the bucket lie under names made with its own. Move storage.json to another ' +
        'place to use the common secret from now on; keep it, since the earlier files can only be found with it.',
    );
  }
  const known = found ?? secret;
  if (known !== null) return known;
  throw new OtherSecret(
    'The other hosts with this database have their secret from VERAVOX_STORAGE_SECRET: set the same here.',
  );
}
