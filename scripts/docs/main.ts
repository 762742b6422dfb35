// SPDX-License-Identifier: Apache-2.0
//
// Writes the documentation that is generated from the code.
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';
import { clientTypes } from './client-types.js';
import { pages } from './pages.js';

for (const { file, renewed } of pages) {
  const at = path.join(packageDir, file);
  fs.writeFileSync(at, await renewed(fs.readFileSync(at, 'utf8')));
}
fs.writeFileSync(path.join(packageDir, 'client/src/types.ts'), await clientTypes());
