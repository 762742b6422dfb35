// SPDX-License-Identifier: Apache-2.0
import { DatabaseError, type FailureKind } from './database.js';

const kinds: readonly [codes: RegExp, kind: FailureKind, advice: string][] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, 'busy', ' Another process has held it for too long.'],
  [/^SQLITE_CONSTRAINT/, 'constraint', ''],
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'full', ' Make room on its disk.'],
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/,
    'damaged',
    ' Restore the file from a backup; docs/data.md says how. Without one, move it away to start with an empty database.',
  ],
  [/^(?:SQLITE_(?:IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/, 'unavailable', ''],
];

export function sqliteFailure(file: string, code: string, message: string): DatabaseError {
  const [, kind, advice] = kinds.find(([codes]) => codes.test(code)) ?? [undefined, 'faulty' as const, ''];
  return new DatabaseError(kind, code, `The database ${file}: ${message} (${code}).${advice}`);
}
