// SPDX-License-Identifier: Apache-2.0
//
// Makes a clone ready to run: Node, system packages, npm packages, native addon, TypeScript. Does only the missing steps;
// silent if there are none. Uses only Node's own modules, since it runs before `npm ci`, and only features of Node 20
// until it has fetched a newer one.
//
//   node scripts/setup.mjs           what `npm start` needs
//   node scripts/setup.mjs --tests   what `npm test` needs on top
import { pathToFileURL } from 'node:url';
import { ensureAddon, ensureTypeScript } from './setup/builds.mjs';
import { ranUnderFetchedNode } from './setup/node.mjs';
import { ensureNpmPackages } from './setup/npm-packages.mjs';
import { ensurePythonPackages } from './setup/python-packages.mjs';
import { SetupError } from './setup/step.mjs';
import { ensureTestPackages } from './setup/system-packages.mjs';

export async function setUp({ forTests = false } = {}) {
  if (forTests) await ensureTestPackages();
  await ensureNpmPackages();
  if (forTests) await ensurePythonPackages();
  await ensureAddon();
  await ensureTypeScript();
}

/** Runs `main`, under a newer Node if this one is too old, and turns a SetupError into its message and exit code 1. */
export async function runAsProgram(main) {
  try {
    if (!(await ranUnderFetchedNode())) await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runAsProgram(() => setUp({ forTests: process.argv.includes('--tests') }));
}
