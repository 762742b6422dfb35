// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { DatabaseError } from './database.js';

/** Why nothing can be written: no room on the disk, or the database, or its disk, may only be read. */
export type WriteProblem = 'full' | 'read_only';

const problems: readonly [codes: RegExp, problem: WriteProblem][] = [
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT|53100$)/, 'full'],
  [/^(?:SQLITE_READONLY|EROFS|25006$)/, 'read_only'],
];

/** Of an error of the database or the file system, or of its cause. */
export function writeProblemOf(error: unknown): WriteProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  const found = typeof code === 'string' && problems.find(([codes]) => codes.test(code));
  return found ? found[1] : writeProblemOf(error.cause);
}

const reasons: Readonly<Record<WriteProblem, string>> = {
  full: 'there is no room on its disk',
  read_only: 'it can only be read',
};

/** The client's version of an error; its cause is for the log. */
export function refusalOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const reason = whyUnusable(error);
  return reason === undefined
    ? new ServiceError('INTERNAL', {}, { cause: error })
    : new ServiceError('DATABASE_UNAVAILABLE', { reason }, { cause: error });
}

/** Why the same may succeed later; undefined if it would not. */
export function whyUnusable(error: unknown): string | undefined {
  const problem = writeProblemOf(error);
  if (problem !== undefined) return reasons[problem];
  if (!(error instanceof DatabaseError)) return undefined;
  if (error.kind === 'busy') return 'another process holds it';
  return error.kind === 'unavailable' ? 'it does not answer' : undefined;
}
