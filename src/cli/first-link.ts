// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../base/config/options.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import type { Database } from '../state/database/database.js';
import { dashboardOrigin } from './dashboard-address.js';

export interface FirstLinkOptions {
  readonly config: Config;
  readonly database: Database;
  readonly port: number;
  readonly adminPort?: number | undefined;
  /** The operator reads the output of this start: it also prints the first key. */
  readonly isFirstStart: boolean;
}

/** The start's note on the dashboard: the way to make the first user, until there is one. */
export async function firstLinkNote(options: FirstLinkOptions): Promise<Shown> {
  const { config, database, isFirstStart } = options;
  if (config.dashboard === 'off') return shown``;
  const { UserTable } = await import('../console/users/user-table.js');
  if (!(await new UserTable(database).isEmpty())) return shown``;
  const { LinkTable, linkPath } = await import('../console/users/link-table.js');
  const origin = dashboardOrigin(config, options);
  // Later, the output may be readable by many; and a file for the key says that it already is.
  const isPrinted = isFirstStart && config.firstKeyFile === '';
  const token = isPrinted ? await new LinkTable(database).createFirst() : undefined;
  if (token === undefined)
    return shown`dashboard: ${origin}/dashboard/ (no users yet: veravox admin link prints a link)\n`;
  return shown`The dashboard asks for a password. Choose it within an hour:

  ${origin}${linkPath(token)}

`;
}
