// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { shown } from '../base/errors/shown-text.js';
import { ownDataFolder } from '../state/data-folder/data-folder.js';
import { databaseFile, openUnchanged, withDatabase } from '../state/database/open-database.js';
import { addUnsentUsage } from '../state/records/unsent-usage.js';
import { UsageTable } from '../state/records/usage-table.js';
import { copyDatabase, countsToCopy, refuseUnlessEmpty, type TableCount } from './copy-database.js';
import { print, tell } from './output.js';
import { textTable } from './text-table.js';

export function addDatabaseCommand(program: Command): void {
  const database = program.command('database').description('Move to another database.');
  database
    .command('copy')
    .description(
      'Copy everything from the SQLite database of the data folder to the empty PostgreSQL database of VERAVOX_DATABASE_URL.',
    )
    .option('--dry-run', 'only print what would be copied, and any obstacles')
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const config = loadConfig(process.env);
      const file = databaseFile(config.dataDir);
      if (config.database === undefined) {
        throw new Error('Set VERAVOX_DATABASE_URL to the PostgreSQL database that should be filled.');
      }
      if (!fs.existsSync(file)) throw new Error(`There is no ${file}: nothing to copy.`);
      const counts = dryRun ? await tryCopy(config) : await copy(config);
      print(
        textTable(
          ['table', '>rows'],
          counts.map(({ table, rows }) => [table, String(rows)]),
        ),
      );
      tell(
        dryRun
          ? shown`Nothing was copied (--dry-run).\n`
          : shown`Copied, and the counts agree. ${file} is unchanged; servers with VERAVOX_DATABASE_URL do not use it.\n`,
      );
    });
}

const sqliteOf = (config: Config): Config => ({ ...config, database: undefined });

/** Changes neither. */
async function tryCopy(config: Config): Promise<TableCount[]> {
  const source = await openUnchanged(sqliteOf(config));
  if (source === undefined) throw new Error(`${databaseFile(config.dataDir)} has no tables.`);
  try {
    const counts = await countsToCopy(source);
    // Without tables it is empty.
    const target = await openUnchanged(config);
    if (target === undefined) return counts;
    try {
      await refuseUnlessEmpty(
        target,
        counts.map(({ table }) => table),
      );
    } finally {
      await target.close();
    }
    return counts;
  } finally {
    await source.close();
  }
}

/** No server may use the data folder: its later changes would be missing in the copy. */
async function copy(config: Config): Promise<TableCount[]> {
  const folder = await ownDataFolder(config.dataDir);
  try {
    return await withDatabase(sqliteOf(config), async (source) => {
      await addUnsentUsage(config.dataDir, new UsageTable(source), (error) => {
        throw error;
      });
      return await withDatabase(config, (target) => copyDatabase(source, target));
    });
  } finally {
    folder.release();
  }
}
