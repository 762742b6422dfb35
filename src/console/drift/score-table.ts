// SPDX-License-Identifier: Apache-2.0
//
// This room counts the scores of each model by hour and compares them with a reference, so that operators
// see when recordings or scores change. Nothing in it identifies a request.
import type { Database, Queries, Transaction, Value } from '../../state/database/database.js';
import { type ScoreKind, scoreKinds } from './score-bins.js';
import {
  emptyHistograms,
  type KindHistograms,
  type ModelCounts,
  ScoreCounts,
  type ScoredBy,
} from './score-counts.js';
import { REFERENCE_FILES } from './stability-index.js';

/** Hours with scores that are kept. They count, not the time: a clock that jumps by a year removes nothing. */
export const KEPT_HOURS = 336;

const referenceOrigins = ['first_files', 'chosen'] as const;

/** The reference for later scores of a model. */
export interface ScoreReference {
  /** The first files of the model, or hours that an operator chose. */
  readonly origin: (typeof referenceOrigins)[number];
  /** False while it grows. */
  readonly isWhole: boolean;
  /** When it was begun, and later when it was whole. */
  readonly madeAtMs: number;
  readonly histograms: KindHistograms;
}

/** Hours since 1970, both included. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** The hours have fewer files than a reference needs. */
export class TooFewFiles extends Error {
  override readonly name = 'TooFewFiles';
  readonly files: number;

  constructor(files: number) {
    super(`A reference needs ${REFERENCE_FILES} files, and there are ${files}.`);
    this.files = files;
  }
}

type CountRow = { readonly kind: ScoreKind; readonly bin: number; readonly scores: number };
type HourRow = CountRow & { readonly model: string; readonly fingerprint: string; readonly hour: number };

/** The distribution of scores of all hosts with the same database. */
export class ScoreTable {
  readonly #database: Database;
  /** Of the last counts that were added: with a new one, the oldest goes. */
  #newestHour = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Adds the counts to their hours, and to references that still grow.
   * @throws DatabaseError. If it is of the kind `unavailable`, they may be in it, and count twice when they are added again
   */
  async add(counts: ScoreCounts): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      for (const model of counts.models) {
        await grow(transaction, model);
        for (const [hour, histograms] of counts.hoursOf(model))
          await addHour(transaction, model, hour, histograms);
      }
      await this.#forget(transaction, counts);
    });
  }

  async read({ from, to }: Hours): Promise<ScoreCounts> {
    const rows = await this.#database.query<HourRow>(
      'SELECT model, fingerprint, kind, hour, bin, scores FROM score_counts WHERE hour >= $1 AND hour <= $2',
      [from, to],
    );
    const counts = new ScoreCounts();
    for (const row of rows) counts.of(row, row.hour)[row.kind][row.bin] = row.scores;
    return counts;
  }

  /** Undefined before the first score of the model. */
  async reference(by: ScoredBy): Promise<ScoreReference | undefined> {
    type Known = { origin: ScoreReference['origin']; is_whole: number; made_at_ms: number };
    const [known] = await this.#database.query<Known>(
      'SELECT origin, is_whole, made_at_ms FROM score_references WHERE model = $1 AND fingerprint = $2',
      [by.model, by.fingerprint],
    );
    if (known === undefined) return undefined;
    const { origin, is_whole, made_at_ms: madeAtMs } = known;
    return {
      origin,
      isWhole: is_whole === 1,
      madeAtMs,
      histograms: await referenceCounts(this.#database, by),
    };
  }

  /**
   * From now on the scores of these hours are the reference for later ones.
   * @param before runs before that holds; if it fails, nothing has changed
   * @returns the number of files
   * @throws TooFewFiles; then nothing has changed
   */
  choose(
    by: ScoredBy,
    { from, to }: Hours,
    nowMs: number,
    before = async (_files: number): Promise<void> => {},
  ): Promise<number> {
    const { model, fingerprint } = by;
    return this.#database.transaction(async (transaction) => {
      await insertReference(transaction, by, nowMs);
      await transaction.execute(
        `UPDATE score_references SET origin = 'chosen', is_whole = 1, made_at_ms = $3 WHERE model = $1 AND fingerprint = $2`,
        [model, fingerprint, nowMs],
      );
      await transaction.execute('DELETE FROM score_reference_counts WHERE model = $1 AND fingerprint = $2', [
        model,
        fingerprint,
      ]);
      await transaction.execute(
        `INSERT INTO score_reference_counts (model, fingerprint, kind, bin, scores)
          SELECT model, fingerprint, kind, bin, SUM(scores) FROM score_counts
          WHERE model = $1 AND fingerprint = $2 AND hour >= $3 AND hour <= $4 GROUP BY model, fingerprint, kind, bin`,
        [model, fingerprint, from, to],
      );
      const files = await filesOf(transaction, by);
      if (files < REFERENCE_FILES) throw new TooFewFiles(files);
      await before(files);
      return files;
    });
  }

  async #forget(transaction: Transaction, counts: ScoreCounts): Promise<void> {
    const newest = Math.max(...counts.models.flatMap(({ hours }) => [...hours.keys()]));
    if (newest === this.#newestHour) return;
    this.#newestHour = newest;
    // In one statement: between two, another host may add an hour that the first has not seen.
    await transaction.execute(
      `DELETE FROM score_counts WHERE hour <
        (SELECT MIN(hour) FROM (SELECT DISTINCT hour FROM score_counts ORDER BY hour DESC LIMIT ${KEPT_HOURS}) AS kept)`,
    );
  }
}

/** The first files of a model are its reference until an operator chooses another. */
async function grow(transaction: Transaction, counts: ModelCounts): Promise<void> {
  const { model, fingerprint, hours } = counts;
  await insertReference(transaction, counts, Date.now());
  // Also holds back other hosts, so that their files are not missed.
  const growing = await transaction.execute(
    'UPDATE score_references SET made_at_ms = made_at_ms WHERE model = $1 AND fingerprint = $2 AND is_whole = 0',
    [model, fingerprint],
  );
  if (growing === 0) return;
  for (const histograms of hours.values()) {
    await addRows(transaction, 'score_reference_counts', { model, fingerprint }, histograms);
  }
  if ((await filesOf(transaction, counts)) < REFERENCE_FILES) return;
  await transaction.execute(
    'UPDATE score_references SET is_whole = 1, made_at_ms = $3 WHERE model = $1 AND fingerprint = $2',
    [model, fingerprint, Date.now()],
  );
}

const insertReference = (transaction: Transaction, { model, fingerprint }: ScoredBy, nowMs: number) =>
  transaction.execute(
    `INSERT INTO score_references (model, fingerprint, origin, is_whole, made_at_ms) VALUES ($1, $2, 'first_files', 0, $3)
      ON CONFLICT (model, fingerprint) DO NOTHING`,
    [model, fingerprint, nowMs],
  );

const addHour = (
  transaction: Transaction,
  { model, fingerprint }: ScoredBy,
  hour: number,
  counts: KindHistograms,
) => addRows(transaction, 'score_counts', { model, fingerprint, hour }, counts);

/** @param place the columns beside kind, bin and number */
async function addRows(
  transaction: Transaction,
  table: 'score_counts' | 'score_reference_counts',
  place: Readonly<Record<string, Value>>,
  histograms: KindHistograms,
): Promise<void> {
  const key = [...Object.keys(place), 'kind', 'bin'];
  const rows = scoreKinds.flatMap((kind) =>
    histograms[kind].flatMap((scores, bin): Value[][] =>
      scores === 0 ? [] : [[...Object.values(place), kind, bin, scores]],
    ),
  );
  if (rows.length === 0) return;
  const width = key.length + 1;
  const places = rows.map((row, i) => `(${row.map((_, j) => `$${i * width + j + 1}`).join(', ')})`);
  await transaction.execute(
    `INSERT INTO ${table} (${key.join(', ')}, scores) VALUES ${places.join(', ')}
      ON CONFLICT (${key.join(', ')}) DO UPDATE SET scores = ${table}.scores + excluded.scores`,
    rows.flat(),
  );
}

async function referenceCounts(queries: Queries, { model, fingerprint }: ScoredBy): Promise<KindHistograms> {
  const rows = await queries.query<CountRow>(
    'SELECT kind, bin, scores FROM score_reference_counts WHERE model = $1 AND fingerprint = $2',
    [model, fingerprint],
  );
  const histograms = emptyHistograms();
  for (const { kind, bin, scores } of rows) histograms[kind][bin] = scores;
  return histograms;
}

async function filesOf(queries: Queries, by: ScoredBy): Promise<number> {
  return (await referenceCounts(queries, by)).file.reduce((sum, scores) => sum + scores, 0);
}
