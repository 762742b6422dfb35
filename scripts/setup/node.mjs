// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { buildUnlessFresh } from './fingerprint.mjs';
import { whyTooOld } from './node-version.mjs';
import { rootDir, runStep, SetupError } from './step.mjs';

const pinnedDir = path.join(rootDir, 'scripts/setup/node');
const targetDir = path.join(rootDir, 'build/node');
export const fetchedNodeDir = path.join(targetDir, 'node_modules/.bin');
const fetchedNode = path.join(fetchedNodeDir, 'node');

/**
 * Runs this program and its children under a Node that set-up fetches if its own is too old.
 * @returns false if its own is new enough
 */
export async function ranUnderFetchedNode() {
  const searched = (process.env.PATH ?? '').split(path.delimiter);
  if (whyTooOld === undefined) {
    // `npm start` would prefer an older fetched Node to a newer system one.
    if (!searched.includes(fetchedNodeDir)) fs.rmSync(targetDir, { recursive: true, force: true });
    return false;
  }
  await buildUnlessFresh({
    name: 'node',
    inputs: ['scripts/setup/node/package-lock.json'],
    output: path.relative(rootDir, fetchedNode),
    build: fetchNode,
  });
  const { status } = spawnSync(fetchedNode, process.argv.slice(1), {
    stdio: 'inherit',
    env: { ...process.env, PATH: [fetchedNodeDir, ...searched].join(path.delimiter) },
  });
  process.exitCode = status ?? 1;
  return true;
}

/** From the npm registry, whose packages are checked against the hashes of a lock file. */
async function fetchNode() {
  fs.rmSync(targetDir, { recursive: true, force: true });
  fs.mkdirSync(targetDir, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    fs.copyFileSync(path.join(pinnedDir, file), path.join(targetDir, file));
  }
  await runStep(`Node into ${path.relative(rootDir, targetDir)}, since ${process.version} is too old`, [
    ['npm', 'ci', '--prefix', targetDir, '--ignore-scripts', '--no-audit', '--no-fund'],
  ]);
  if (!fs.existsSync(fetchedNode)) {
    throw new SetupError(
      `${whyTooOld}; the npm registry has none for ${process.platform} on ${process.arch}.`,
    );
  }
}
