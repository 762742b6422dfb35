// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import { shown } from '../base/errors/shown-text.js';
import { backUp } from '../state/database/backup.js';
import { withDatabase } from '../state/database/open-database.js';
import { noteDataFolder } from './data-folder-note.js';
import { tell } from './output.js';

export function addBackupCommand(program: Command): void {
  program
    .command('backup <file>')
    .description('Write the SQLite database of the data folder to a new file, also while a server runs.')
    .action(async (file: string) => {
      const config = loadConfig(process.env);
      await withDatabase(config, (database) => backUp(database, path.resolve(file)));
      tell(shown`Written: ${path.resolve(file)}\n`);
      noteDataFolder(config.dataDir);
    });
}
