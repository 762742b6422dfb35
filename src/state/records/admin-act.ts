// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { dayOf } from '../data-folder/days.js';
import { type AuditEvent, appendToChain, auditDir } from './audit-chain.js';

/** The actor on the machine itself, as far as the system tells. */
export const actor = (): { uid: number | null; pid: number } => ({
  uid: process.getuid?.() ?? null,
  pid: process.pid,
});

/**
 * Notes a command's act in the audit, also beside a running server. Without an audit it does nothing.
 * @throws Error when it cannot be written
 */
export async function noteAdminAct(
  { dataDir, audit }: Pick<Config, 'dataDir' | 'audit'>,
  act: AuditEvent,
): Promise<void> {
  if (audit === 'off') return;
  const time = new Date();
  const line = JSON.stringify({ time: time.toISOString(), ...act, ...actor() });
  await appendToChain(auditDir(dataDir), [line], { day: dayOf(time), time });
}
