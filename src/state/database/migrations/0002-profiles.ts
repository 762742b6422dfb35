// SPDX-License-Identifier: Apache-2.0
import type { Migration } from '../migrate.js';

/** `profile` is a JSON text. Changes count as those of operating points. */
const sql = `
CREATE TABLE profiles (
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  profile TEXT NOT NULL,
  PRIMARY KEY (name, model)
);`;

export const profiles: Migration = { name: '0002-profiles', sql };
