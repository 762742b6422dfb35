// SPDX-License-Identifier: Apache-2.0
//
// Makes a clone ready to run: system packages, npm packages, native addon, TypeScript. Does what is missing and
// nothing else; with nothing missing it is silent. Uses only what Node brings, since it runs before `npm ci`.
//
//   node scripts/setup.mjs           what `npm start` needs
//   node scripts/setup.mjs --tests   what `npm test` needs on top
import { pathToFileURL } from 'node:url';
import { ensureAddon, ensureTypeScript } from './setup/builds.mjs';
import { ensureNpmPackages } from './setup/npm-packages.mjs';
import { SetupError } from './setup/step.mjs';
import { ensureTestPackages } from './setup/system-packages.mjs';

export async function setUp({ forTests = false } = {}) {
  refuseOtherNodeVersions();
  if (forTests) await ensureTestPackages();
  await ensureNpmPackages();
  await ensureAddon();
  await ensureTypeScript();
}

function refuseOtherNodeVersions() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if ((major === 20 && minor >= 17) || (major === 22 && minor >= 9)) return;
  // uWebSockets.js has one binary per major version of Node.
  throw new SetupError(
    `Node 20.17 or 22.9 and their later releases are supported; this is ${process.version}.`,
  );
}

/** Runs `main` and turns a SetupError into its message and exit code 1. */
export async function runAsProgram(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runAsProgram(() => setUp({ forTests: process.argv.includes('--tests') }));
}
