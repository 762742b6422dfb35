// SPDX-License-Identifier: Apache-2.0
//
// Ends a program with one sentence if its Node is too old. Programs import it first; commands of other packages come
// after `node scripts/needs-node.mjs &&`.
import { fetchedNodeDir } from './setup/node.mjs';
import { whyTooOld } from './setup/node-version.mjs';

if (whyTooOld !== undefined) {
  process.stderr.write(`${whyTooOld}; run npm run setup, then put ${fetchedNodeDir} first on the PATH.\n`);
  process.exit(1);
}
