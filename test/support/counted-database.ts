// SPDX-License-Identifier: Apache-2.0
import type { Database, Queries, Value } from '../../src/state/database/database.js';

/** The same database, which notes the number of rows of each change. */
export function countedDatabase(database: Database): {
  readonly database: Database;
  readonly changed: number[];
} {
  const changed: number[] = [];
  const counting = <Of extends Queries>(of: Of): Of =>
    new Proxy(of, {
      get(target, name) {
        if (name === 'execute') {
          return async (sql: string, values: readonly Value[] = []) => {
            const rows = await target.execute(sql, values);
            changed.push(rows);
            return rows;
          };
        }
        if (name === 'transaction') {
          return ((work, options) =>
            database.transaction((inside) => work(counting(inside)), options)) as Database['transaction'];
        }
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'function' ? found.bind(target) : found;
      },
    });
  return { database: counting(database), changed };
}
