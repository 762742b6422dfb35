// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { rootDir, runStep } from './step.mjs';

/** Runs `npm ci` unless node_modules matches the lock file. */
export async function ensureNpmPackages() {
  if (!isInstalled()) await runStep('npm packages', [['npm', 'ci', '--no-audit', '--no-fund']]);
}

function isInstalled() {
  // npm records there what it installed; unlike our own stamp, this also notices a manual `npm install`.
  const installed = lockedPackages('node_modules/.package-lock.json');
  if (installed === undefined) return false;
  return Object.entries(lockedPackages('package-lock.json')).every(([location, wanted]) => {
    const found = installed[location];
    // Optional packages are for other platforms.
    return found === undefined
      ? location === '' || (wanted.optional === true && !isForThisNode(wanted))
      : found.version === wanted.version;
  });
}

/** A binary for one version of Node: npm omits the others, including the next version installed here. */
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
