#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
//
// Imports nothing, so that every Node gets as far as the sentence: an older one fails while it reads the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 9)) {
  await import('./program.js');
} else {
  process.stderr.write(
    `veravox: Expected Node 22.9 or later, but this is ${process.version}; npm start fetches one into build/node/node_modules/.bin.\n`,
  );
  process.exitCode = 1;
}
