// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** `account` is empty for profiles of the server itself, `profile` a JSON text. Changes count as those of operating points. */
const sql = `
CREATE TABLE profiles (
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  in_use INTEGER NOT NULL,
  profile TEXT NOT NULL,
  PRIMARY KEY (account, name, model, version)
);`;

export const profiles: Migration = { name: '0002-profiles', sql };
