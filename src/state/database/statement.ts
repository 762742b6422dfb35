// SPDX-License-Identifier: Apache-2.0
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Database, DatabaseError, type Value } from './database.js';

/**
 * Refuses SQL that a dialect would take for something else, or change without a word.
 * @throws DatabaseError
 */
export function checkStatement(sql: string, parameters: readonly Value[]): void {
  const highest = [...sql.matchAll(/\$(\d+)/g)].reduce((max, [, number]) => Math.max(max, Number(number)), 0);
  if (highest !== parameters.length) {
    throw fault(`the statement has ${highest} parameters, but ${parameters.length} values were given`);
  }
  for (const [index, value] of parameters.entries()) checkValue(value, index + 1);
}

function checkValue(value: unknown, number: number): void {
  if (value === null || value instanceof Uint8Array) return;
  if (typeof value === 'string') {
    if (value.includes('\0')) throw fault(`the text for $${number} has a NUL character`);
    return;
  }
  if (typeof value !== 'number') throw fault(`a ${typeof value} was given for $${number}`);
  if (!Number.isFinite(value)) throw fault(`${value} was given for $${number}`);
}

const fault = (problem: string): DatabaseError =>
  new DatabaseError('faulty', 'STATEMENT', `A statement cannot be run: ${problem}.`);

const transactionOf = new AsyncLocalStorage<Database>();
let running = 0;

/**
 * Runs the work of a transaction, in which `refuseInside` throws. While a store is in use, Node.js follows every promise of the
 * process, at a tenth of the main thread's time per request: so it is in use only as long as a transaction runs.
 */
export async function asTransaction<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  running++;
  try {
    return await transactionOf.run(database, work);
  } finally {
    running--;
    if (running === 0) transactionOf.disable();
  }
}

/** The database would wait for the end of the transaction, and the transaction for the database. */
export function refuseInside(database: Database): void {
  if (transactionOf.getStore() === database) {
    throw fault('inside a transaction, only the transaction itself may be used');
  }
}
