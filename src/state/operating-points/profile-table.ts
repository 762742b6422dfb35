// SPDX-License-Identifier: Apache-2.0
import { isJsonObject } from '../../base/json-object.js';
import type { Database, Queries } from '../database/database.js';
import { type DamagedValue, storedJson, unlessDamaged } from '../database/stored-json.js';
import { changed } from './point-changes.js';
import type { NewProfile, Profile, ProfileVersion } from './profile.js';

/** Profiles of one account, each with its versions, by name and model. */
export const MAX_PROFILES = 100;
/** Of one profile: the oldest goes when another is made. */
export const MAX_PROFILE_VERSIONS = 10;

/** In the database, of profiles that all accounts may use. */
const EVERYBODY = '';

/** The account has MAX_PROFILES. */
export class TooManyProfiles extends Error {
  override readonly name = 'TooManyProfiles';
}

const COLUMNS = 'account, name, model, version, in_use, profile';

type ProfileRow = {
  readonly account: string;
  readonly name: string;
  readonly model: string;
  readonly version: number;
  readonly in_use: number;
  readonly profile: string;
};

/** The profiles in the database. Those of an account are its own; without one, they are for all accounts. */
export class ProfileTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Of all accounts, by name.
   * @param onDamaged told of each that cannot be used; the others can
   * @throws DatabaseError
   */
  async inUse(onDamaged: (error: DamagedValue) => void): Promise<Profile[]> {
    const rows = await this.#database.query<ProfileRow>(
      `SELECT ${COLUMNS} FROM profiles WHERE in_use = 1 ORDER BY name, model, account`,
    );
    return rows.flatMap((row) => unlessDamaged(() => profileOf(row), onDamaged) ?? []);
  }

  /** The version in use of each profile that an account may use, by name, without damaged ones. @throws DatabaseError */
  async usableBy(account = EVERYBODY): Promise<ProfileVersion[]> {
    const rows = await this.#database.query<ProfileRow>(
      `SELECT ${COLUMNS} FROM profiles WHERE account IN ($1, $2) AND in_use = 1 ORDER BY name, model, account DESC`,
      [account, EVERYBODY],
    );
    return rows.flatMap((row) => unlessDamaged(() => versionOf(row)) ?? []);
  }

  /** Every version of the profiles of this name that an account may use, by model, the latest first. @throws DatabaseError, DamagedValue */
  async versions(account: string | undefined, name: string): Promise<ProfileVersion[]> {
    const rows = await this.#database.query<ProfileRow>(
      `SELECT ${COLUMNS} FROM profiles WHERE account IN ($1, $2) AND name = $3
        ORDER BY model, account DESC, version DESC`,
      [account ?? EVERYBODY, EVERYBODY, name],
    );
    return rows.map(versionOf);
  }

  /**
   * Adds a profile, or the next version of one with its name for its model, which requests use from now on.
   * @returns its versions, this one first
   * @throws TooManyProfiles, DatabaseError
   */
  save(profile: NewProfile): Promise<ProfileVersion[]> {
    const { account = EVERYBODY, name, model } = profile;
    const key = [account, name, model];
    return changed(this.#database, async (transaction) => {
      const others = await transaction.query(
        'SELECT DISTINCT name, model FROM profiles WHERE account = $1 AND NOT (name = $2 AND model = $3)',
        key,
      );
      if (others.length >= MAX_PROFILES) throw new TooManyProfiles();
      const [latest] = await transaction.query<{ version: number }>(
        `SELECT version FROM profiles WHERE account = $1 AND name = $2 AND model = $3 ORDER BY version DESC LIMIT 1`,
        key,
      );
      const version = (latest?.version ?? 0) + 1;
      await transaction.execute(
        'UPDATE profiles SET in_use = 0 WHERE account = $1 AND name = $2 AND model = $3',
        key,
      );
      const { account: _, ...stored } = profile;
      await transaction.execute(
        'INSERT INTO profiles (account, name, model, version, in_use, profile) VALUES ($1, $2, $3, $4, 1, $5)',
        [...key, version, JSON.stringify(stored)],
      );
      await transaction.execute(
        `DELETE FROM profiles WHERE account = $1 AND name = $2 AND model = $3 AND version <= $4`,
        [...key, version - MAX_PROFILE_VERSIONS],
      );
      return versionsOf(transaction, key);
    });
  }

  /** Has requests use an earlier or later version. @returns all versions; none if that one is missing */
  async use(
    account: string | undefined,
    name: string,
    model: string,
    version: number,
  ): Promise<ProfileVersion[]> {
    const key = [account ?? EVERYBODY, name, model];
    const versions = await versionsOf(this.#database, key);
    const wanted = versions.find((each) => each.version === version);
    if (wanted === undefined) return [];
    if (wanted.isInUse) return versions;
    return changed(this.#database, async (transaction) => {
      const found = await transaction.query(
        'SELECT version FROM profiles WHERE account = $1 AND name = $2 AND model = $3 AND version = $4',
        [...key, version],
      );
      if (found.length === 0) return [];
      await transaction.execute(
        `UPDATE profiles SET in_use = CASE WHEN version = $4 THEN 1 ELSE 0 END
          WHERE account = $1 AND name = $2 AND model = $3`,
        [...key, version],
      );
      return versionsOf(transaction, key);
    });
  }

  /** With all versions. @param isWanted for all models by default @returns the models that had one */
  async remove(
    account: string | undefined,
    name: string,
    isWanted: (model: string) => boolean = () => true,
  ): Promise<string[]> {
    const key = [account ?? EVERYBODY, name];
    const modelsIn = async (queries: Pick<Queries, 'query'>): Promise<string[]> => {
      const found = await queries.query<{ model: string }>(
        'SELECT DISTINCT model FROM profiles WHERE account = $1 AND name = $2 ORDER BY model',
        key,
      );
      return found.map(({ model }) => model).filter(isWanted);
    };
    if ((await modelsIn(this.#database)).length === 0) return [];
    return changed(this.#database, async (transaction) => {
      const models = await modelsIn(transaction);
      for (const model of models)
        await transaction.execute('DELETE FROM profiles WHERE account = $1 AND name = $2 AND model = $3', [
          ...key,
          model,
        ]);
      return models;
    });
  }
}

async function versionsOf(
  queries: Pick<Queries, 'query'>,
  key: readonly string[],
): Promise<ProfileVersion[]> {
  const rows = await queries.query<ProfileRow>(
    `SELECT ${COLUMNS} FROM profiles WHERE account = $1 AND name = $2 AND model = $3 ORDER BY version DESC`,
    key,
  );
  return rows.map(versionOf);
}

const versionOf = (row: ProfileRow): ProfileVersion => ({ ...profileOf(row), isInUse: row.in_use === 1 });

/** @throws DamagedValue */
function profileOf({ account, name, model, version, profile }: ProfileRow): Profile {
  const row = `${name}, ${model}, version ${version}, of ${account === EVERYBODY ? 'all accounts' : account}`;
  const place = { table: 'profiles', column: 'profile', row };
  const stored = storedJson<NewProfile>(
    profile,
    place,
    (content) => content.name === name && content.model === model && isCorrection(content.correction),
  );
  return { ...stored, version, ...(account !== EVERYBODY && { account }) };
}

/** Whether scores can be corrected by it. */
function isCorrection(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { direction, from, to, strength } = value;
  return typeof direction === 'string' && [from, to, strength].every(Number.isFinite);
}
