// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';

/** Of the environment that set-up makes for the Python client. */
export const python = path.join(packageDir, 'build/python/bin/python');

/** Why tests that need it are skipped; false if it is there. */
export const withoutPython =
  !fs.existsSync(python) && 'pip has not all packages of clients/python/requirements.txt';

export const clientSources = path.join(packageDir, 'clients/python/src');
