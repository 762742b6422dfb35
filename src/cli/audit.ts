// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { auditDir } from '../state/records/audit-chain.js';
import { type AuditFindings, verifyAudit, type Witness } from '../state/records/audit-verify.js';
import { noteDataFolder } from './data-folder-note.js';
import { print, printJson } from './output.js';

interface VerifyOptions {
  readonly expect?: Witness;
  readonly json?: true;
}

export function addAuditCommand(program: Command): void {
  const audit = program.command('audit').description('Check the audit.');
  audit
    .command('verify')
    .description('Check that no audit line is missing or changed; exit code 1 otherwise.')
    .option(
      '--expect <number:hash>',
      'last line that an earlier run reported; it must still exist',
      parseWitness,
    )
    .option('--json', 'print the findings as JSON')
    .action(async ({ expect, json }: VerifyOptions) => {
      const config = loadConfig(process.env);
      const findings = await verifyAudit(auditDir(config.dataDir), expect);
      if (json) printJson(findings);
      else print(describe(findings));
      noteDataFolder(config.dataDir);
      const { problems, last } = findings;
      if (problems.length > 0) process.exitCode = 1;
      await noteAdminAct(config, {
        event: 'audit_verified',
        throughSeq: last.seq,
        problems: problems.length,
      });
    });
}

function describe({ problems, remarks, files, lines, last }: AuditFindings): Shown {
  const verdict =
    problems.length === 0
      ? `${lines} lines in ${files} files: none missing, none changed.`
      : `${lines} lines in ${files} files; ${problems.length} problems.`;
  const parts = [
    ...problems.map((problem) => shown`FAILED  ${problem}`),
    ...remarks.map((remark) => shown`note    ${remark}`),
    verdict,
    shown`Last line: ${last.seq}:${last.hash}`,
  ];
  return shown`${joined(parts, '\n')}\n`;
}

function parseWitness(text: string): Witness {
  const [, seq, hash = ''] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined) {
    throw new InvalidArgumentError(
      `Expected a number and a hash as verify prints them, such as 120:9f86..., but received ${text}.`,
    );
  }
  return { seq: Number(seq), hash };
}
