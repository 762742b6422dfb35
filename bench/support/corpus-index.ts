// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

/** A row of a corpus's `index.csv`, by column name. */
export type IndexRow = Readonly<Record<string, string>>;

export const readIndex = (corpus: string): IndexRow[] =>
  parse(readFileSync(join(corpus, 'index.csv'), 'utf8'), { columns: true, bom: true });
