// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the builds: options of esbuild, and what may be in a bundle.
import '../scripts/needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';

export const dashboardDir = import.meta.dirname;
export const rootDir = path.resolve(dashboardDir, '..');

export const shared = {
  bundle: true,
  format: 'esm',
  target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // The client's sources: the page is built before the client is.
  alias: { 'veravox-client': path.join(rootDir, 'client/src/index.ts') },
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: rootDir,
  // Paths of packages begin with node_modules wherever that leads.
  preserveSymlinks: true,
};

/** Packages of which parts are in a bundle. */
export const bundledPackages = ['preact', 'preact-render-to-string', 'uplot'];

const allowedFolders = [
  'dashboard/src',
  'client/src',
  ...bundledPackages.map((name) => `node_modules/${name}`),
];

/** The dashboard is a client like any other. */
export function checkInputs(inputs) {
  const foreign = inputs.filter((file) => !allowedFolders.some((folder) => file.startsWith(`${folder}/`)));
  if (foreign.length > 0) fail(`imports ${foreign.join(', ')}`);
}

/** The licence of each package that a bundle contains. */
export function licencesOf(inputs) {
  const packages = new Set(
    inputs.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const dir = path.join(rootDir, 'node_modules', name);
      const file = fs.readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? fail(`no licence in ${name}`) : fs.readFileSync(path.join(dir, file));
      return `${name}\n\n${text}`;
    })
    .join('\n\n');
}

export function fail(problem) {
  throw new Error(`Dashboard: ${problem}.`);
}
