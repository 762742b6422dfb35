// SPDX-License-Identifier: Apache-2.0
import { ownSchemas } from '../../base/config/own-schemas.js';
import { once } from '../../base/once.js';
import type { Database } from '../database/database.js';
import type { DamagedValue } from '../database/stored-json.js';
import { type OperatingPoint, operatingPointSchema } from './operating-point.js';
import { OperatingPoints } from './operating-points.js';
import { changed, POINTS_TOPIC } from './point-changes.js';
import { ProfileTable } from './profile-table.js';

const TIMEOUT_MS = 1000;

/** Most servers have no points, and no need to load this at start. */
const pointCheck = once(async () => {
  const { Ajv } = await import('ajv');
  return new Ajv(ownSchemas).compile<OperatingPoint>(operatingPointSchema);
});

type PointRow = { readonly name: string; readonly model: string; readonly point: string };

/** The operating points in the database, and what requests may name with them. */
export class OperatingPointTable {
  readonly #database: Database;
  readonly #profiles: ProfileTable;

  constructor(database: Database) {
    this.#database = database;
    this.#profiles = new ProfileTable(database);
  }

  /** In the order in which they were saved. @throws DatabaseError, Error that names a damaged one */
  async list(): Promise<OperatingPoint[]> {
    const rows = await this.#database.query<PointRow>(
      'SELECT name, model, point FROM operating_points ORDER BY revision',
    );
    if (rows.length === 0) return [];
    const isPoint = await pointCheck();
    return rows.map(({ name, model, point }) => {
      const value = parsed(point);
      if (isPoint(value) && value.name === name && value.model === model) return value;
      const [problem] = isPoint.errors ?? [];
      throw new Error(
        `The operating point ${name} of ${model} in the database ${this.#database.name} cannot be used: ` +
          `${problem?.instancePath || 'it'} ${problem?.message ?? 'has another name'}. Calibrate again.`,
      );
    });
  }

  /**
   * For requests.
   * @param onDamaged told of each damaged profile: it belongs to one account, and the others go on
   * @throws DatabaseError, Error that names a damaged point
   */
  async all(onDamaged: (error: DamagedValue) => void = refuse): Promise<OperatingPoints> {
    return OperatingPoints.of(await this.list(), await this.#profiles.inUse(onDamaged));
  }

  /** Grows with every change. @throws DatabaseError */
  async revision(): Promise<number> {
    const sql = 'SELECT revision FROM revisions WHERE topic = $1';
    const [row] = await this.#database.queryPromptly<{ revision: number }>(sql, [POINTS_TOPIC], TIMEOUT_MS);
    return row?.revision ?? 0;
  }

  /**
   * Adds a point, in place of one with the same name for the same model.
   * @returns the point that it replaces
   */
  async save(point: OperatingPoint): Promise<OperatingPoint | undefined> {
    return changed(this.#database, async (transaction) => {
      const [earlier] = await transaction.query<{ point: string }>(
        'SELECT point FROM operating_points WHERE name = $1 AND model = $2',
        [point.name, point.model],
      );
      await transaction.execute(
        `INSERT INTO operating_points (name, model, point, revision)
          VALUES ($1, $2, $3, (SELECT revision FROM revisions WHERE topic = $4))
          ON CONFLICT (name, model) DO UPDATE SET point = excluded.point, revision = excluded.revision`,
        [point.name, point.model, JSON.stringify(point), POINTS_TOPIC],
      );
      return earlier && (parsed(earlier.point) as OperatingPoint | undefined);
    });
  }

  follow(onChange: () => void): () => void {
    return this.#database.follow(POINTS_TOPIC, onChange);
  }
}

function refuse(error: DamagedValue): never {
  throw error;
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
