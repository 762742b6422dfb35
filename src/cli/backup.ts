// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import { shown } from '../base/errors/shown-text.js';
import { restoreBackup, writeBackup } from '../state/backup/backup-folder.js';
import { openAsItIs } from '../state/database/open-database.js';
import { noteDataFolder } from './data-folder-note.js';
import { tell } from './output.js';

export function addBackupCommands(program: Command): void {
  program
    .command('backup <folder>')
    .description('Copy all data of the server to a new folder, even while it runs: see docs/backup.md.')
    .option('--without-files', 'leave out the files of /file')
    .action(async (folder: string, { withoutFiles = false }: { withoutFiles?: boolean }) => {
      const config = loadConfig(process.env);
      const target = path.resolve(folder);
      const { dataDir } = config;
      // Earlier versions refuse updated tables, in the backup as well. PostgreSQL need not even answer.
      const database = await openAsItIs(config);
      const contents = { dataDir, database, target, withObjects: !withoutFiles };
      const { note, leftOut } = await writeBackup(contents).finally(() => database.close());
      tell(shown`Written: ${target} (${note.files} files)\n`);
      tellLeftOut(leftOut);
      if (note.database === 'postgres') {
        tell(shown`The backup does not include the PostgreSQL database: run pg_dump before this command.\n`);
      }
      if (config.storageBucket !== '') tell(shown`The backup does not include the files in the bucket.\n`);
      noteDataFolder(dataDir);
    });
  program
    .command('restore <folder>')
    .description('Fill an empty data folder from a backup.')
    .action(async (folder: string) => {
      const { dataDir, database: address } = loadConfig(process.env);
      const { note, leftOut } = await restoreBackup(path.resolve(folder), dataDir);
      const { createdAt, veravox, database } = note;
      tell(shown`Restored: the backup of ${createdAt} by veravox ${veravox}\n`);
      tellLeftOut(leftOut);
      if (database === 'postgres') tell(shown`Restore the dump of its PostgreSQL database as well.\n`);
      else if (address !== undefined) {
        tell(shown`Its database is SQLite. Run veravox database copy to use it with VERAVOX_DATABASE_URL.\n`);
      }
      noteDataFolder(dataDir);
    });
}

function tellLeftOut(leftOut: readonly string[]): void {
  for (const name of leftOut)
    tell(shown`Left out: ${name} is neither a file nor a folder, nor leads to one.\n`);
}
