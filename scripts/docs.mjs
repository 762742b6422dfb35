// SPDX-License-Identifier: Apache-2.0
//
// Writes the parts of README.md that are made from the code: the table of settings. Needs dist/.
import fs from 'node:fs';
import path from 'node:path';
import { withConfigurationTable } from '../dist/config/documentation.js';

const readme = path.resolve(import.meta.dirname, '../README.md');
fs.writeFileSync(readme, withConfigurationTable(fs.readFileSync(readme, 'utf8')));
