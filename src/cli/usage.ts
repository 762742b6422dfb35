// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import type { Database } from '../state/database/database.js';
import { withDatabase } from '../state/database/open-database.js';
import { KeyTable } from '../state/keys/key-table.js';
import { type DayUsage, type UsageFilter, UsageTable } from '../state/records/usage-table.js';
import { noteDataFolder } from './data-folder-note.js';
import { DAY_EXPECTED, dayIn } from './days.js';
import { print, printJson } from './output.js';
import { textTable } from './text-table.js';

interface UsageOptions {
  readonly key?: string;
  readonly account?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description(
      'Show the usage of each key by UTC day and route. A running server updates it every two seconds.',
    )
    .option('--key <id>', 'only this key, by its id in `keys list`')
    .option('--account <name>', 'only the keys of this account')
    .option('--from <day>', `first UTC day: ${DAY_EXPECTED}`, parseDay)
    .option('--to <day>', 'last UTC day, inclusive', parseDay)
    .option('--json', 'one line of JSON per row')
    .action(async ({ key, account, from, to, json }: UsageOptions, command: Command) => {
      if (from !== undefined && to !== undefined && from > to) {
        command.error(`error: Expected ${to} or an earlier day for --from but received ${from}.`);
      }
      const config = loadConfig(process.env);
      const { dataDir } = config;
      const filter: UsageFilter = {
        ...(key !== undefined && { keyId: key }),
        ...(account !== undefined && { account }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      };
      const { rows, names } = await withDatabase(config, async (database) => ({
        rows: await new UsageTable(database).read(filter),
        names: await namesOf(database),
      }));
      if (json) printRows(rows);
      else print(usageTable(rows, names));
      noteDataFolder(dataDir);
    });
}

/** The usage of keys stays when they are gone. */
async function namesOf(database: Database): Promise<ReadonlyMap<string, string>> {
  const keys = await new KeyTable(database).list();
  return new Map(keys.map(({ id, name }) => [id, name]));
}

const rounded = (audioS: number): number => Math.round(audioS * 1000) / 1000;

function printRows(rows: readonly DayUsage[]): void {
  for (const { day, keyId, account, route, requests, errors, audioS, windows, bytes } of rows) {
    printJson({
      day,
      account,
      key_id: keyId,
      route,
      requests,
      errors,
      audio_s: rounded(audioS),
      windows,
      bytes,
    });
  }
}

/** A row per day, key and route, and the sum of all. */
function usageTable(rows: readonly DayUsage[], names: ReadonlyMap<string, string>): Shown {
  if (rows.length === 0) return shown`No usage.\n`;
  const sum = (count: 'requests' | 'errors' | 'audioS' | 'windows' | 'bytes'): number =>
    rows.reduce((total, row) => total + row[count], 0);
  const counts = (row: Pick<DayUsage, 'requests' | 'errors' | 'audioS' | 'windows' | 'bytes'>): string[] => [
    String(row.requests),
    String(row.errors),
    row.audioS.toFixed(1),
    String(row.windows),
    String(row.bytes),
  ];
  const totals = {
    requests: sum('requests'),
    errors: sum('errors'),
    audioS: sum('audioS'),
    windows: sum('windows'),
    bytes: sum('bytes'),
  };
  return textTable(
    ['day', 'account', 'key', 'name', 'route', '>requests', '>errors', '>audio s', '>windows', '>bytes'],
    [
      ...rows.map((row) => [
        row.day,
        row.account,
        row.keyId,
        names.get(row.keyId) ?? '-',
        row.route,
        ...counts(row),
      ]),
      ['total', '', '', '', '', ...counts(totals)],
    ],
  );
}

function parseDay(text: string): string {
  const day = dayIn(text, new Date());
  if (day === undefined) {
    throw new InvalidArgumentError(`Expected a UTC day (${DAY_EXPECTED}) but received ${text}.`);
  }
  return day;
}
