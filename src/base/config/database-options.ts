// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { parseDatabaseAddress } from './database-address.js';
import { optional, text } from './option.js';

/** The database of keys, usage and operating points. */
export const databaseOptions = {
  database: {
    ...optional({
      variable: 'VERAVOX_DATABASE_URL',
      accepts: '`postgres://user:password@host:port/database`, optionally with `?sslmode=` and `host=`',
      defaultText: 'none: SQLite in the data folder',
      parseValue: parseDatabaseAddress,
      description:
        'PostgreSQL database for several hosts. Without `sslmode`, hosts other than this machine must prove their name by TLS (`verify-full`); `require` encrypts only, `disable` does not. `host=/run/postgresql` is a Unix socket. See [database.md](database.md).',
    }),
    isSecret: true,
  },
  databaseCaFile: text({
    variable: 'VERAVOX_DATABASE_CA',
    accepts: 'a file',
    isAccepted: (file) => file === '' || fs.existsSync(file),
    default: '',
    defaultText: 'the certificates that Node.js trusts',
    description: 'CA certificates in PEM format for the PostgreSQL server.',
  }),
};
