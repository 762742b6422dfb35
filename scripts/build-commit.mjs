// SPDX-License-Identifier: Apache-2.0
//
// Writes the commit that is built to dist/commit: from VERAVOX_COMMIT, or Git. Without either, as in an unpacked archive, there is none.
import './needs-node.mjs';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const rootDir = path.resolve(import.meta.dirname, '..');
const { stdout, status } = spawnSync(
  'git',
  ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'],
  { cwd: rootDir, encoding: 'utf8' },
);
const commit = process.env.VERAVOX_COMMIT || (status === 0 ? stdout.trim() : '');
if (commit !== '') fs.writeFileSync(path.join(rootDir, 'dist/commit'), `${commit}\n`);
