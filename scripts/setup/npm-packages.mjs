// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { rootDir, runStep } from './step.mjs';

/** Runs `npm ci` unless node_modules holds what the lock file asks for. */
export async function ensureNpmPackages() {
  if (!isInstalled()) await runStep('npm packages', [['npm', 'ci', '--no-audit', '--no-fund']]);
}

function isInstalled() {
  // npm writes down there what it installed; unlike a stamp of ours this also sees an `npm install` by hand.
  const installed = lockedPackages('node_modules/.package-lock.json');
  if (installed === undefined) return false;
  return Object.entries(lockedPackages('package-lock.json')).every(([location, wanted]) => {
    const found = installed[location];
    // Optional packages are those for other platforms.
    return found === undefined
      ? location === '' || (wanted.optional === true && !isForThisNode(wanted))
      : found.version === wanted.version;
  });
}

/** A binary for one version of Node: npm leaves out those of others, and so of the next that somebody installs here. */
function isForThisNode({ os, cpu, engines }) {
  const [, major] = /^>=(\d+)\.0\.0 </.exec(engines?.node) ?? [];
  return (
    major === process.versions.node.split('.')[0] &&
    os.includes(process.platform) &&
    cpu.includes(process.arch)
  );
}

function lockedPackages(file) {
  const absolute = path.join(rootDir, file);
  return fs.existsSync(absolute) ? JSON.parse(fs.readFileSync(absolute, 'utf8')).packages : undefined;
}
