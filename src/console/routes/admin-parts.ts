// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { Database } from '../../state/database/database.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import type { HealthCounter } from '../health/health-counter.js';
import { Passwords } from '../users/passwords.js';
import { SessionCache } from '../users/session-cache.js';
import { SessionTable } from '../users/session-table.js';
import type { AdminGuardParts } from './admin-guard.js';
import type { StateSources } from './server-state.js';
import { SignIns } from './sign-ins.js';

/** The state behind the admin API. */
export interface AdminStateParts {
  readonly database: Database;
  /** Writes into the audit, if there is one: each change, and its author (`actedBy`). */
  note(event: AuditEvent): void;
  /** The same for a change that must not be without its line: rejects if it cannot be written. */
  noteFirst(event: AuditEvent): Promise<void>;
  /** Adds this process's counts to the database; resolves also if that failed. */
  flushUsage(): Promise<void>;
  readonly health: HealthCounter;
  /** Default: passwords of usual strength. */
  readonly passwords?: Passwords;
}

/** The parts of its routes; they outlive the routes, which are made anew with each reload of the models. */
export interface AdminParts extends AdminStateParts, AdminGuardParts, StateSources {
  readonly config: Config;
  readonly log: Logger;
  readonly sessions: SessionCache;
  readonly signIns: SignIns;
}

/** Reads nothing yet. Close `sessions` at the end. */
export function openAdminParts(
  given: AdminStateParts & StateSources & Pick<AdminParts, 'keys' | 'rates' | 'config' | 'log'>,
): AdminParts {
  const { database, log } = given;
  const sessions = new SessionCache(new SessionTable(database), {
    onError: (error) => log.error({ err: error }, 'sessions could not be read'),
  });
  const passwords = given.passwords ?? new Passwords();
  return { ...given, sessions, passwords, signIns: new SignIns({ ...given, passwords }) };
}
