// SPDX-License-Identifier: Apache-2.0
//
// Puts the used parts of the largest npm packages into dist/vendor, which installs in a tenth of their size.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { rootDir } from '../setup/step.mjs';

/** Plain JavaScript that reads no files of its own. libsql too: otherwise npm installs its binaries for both C libraries. */
const isBundled = (name) =>
  /^(@aws-sdk\/|@smithy\/|@opentelemetry\/|libsql$|prom-client$|csv-parse$)/.test(name);

/** Dependencies of package.json that the package still installs. */
export const withoutBundled = (dependencies) =>
  Object.fromEntries(Object.entries(dependencies).filter(([name]) => !isBundled(name)));

const packageOf = (specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

/**
 * Rewrites the files in `dist` that import one of these packages.
 * @returns the folders of all packages that have become part of it
 */
export async function bundlePackages(dist) {
  const isOurs = (file) => file.startsWith(`${dist}${path.sep}`);
  const importing = fs
    .readdirSync(dist, { recursive: true })
    // The rest is for browsers, or bundled already.
    .filter((name) => name.endsWith('.js') && !/^(dashboard|docs-page|offline)\//.test(name))
    .map((name) => path.join(dist, name))
    .filter((file) =>
      [...fs.readFileSync(file, 'utf8').matchAll(/\b(?:from|import\() ?'([^'.][^']*)'/g)].some(
        ([, specifier]) => isBundled(packageOf(specifier)),
      ),
    );
  const { metafile } = await build({
    entryPoints: importing,
    outdir: dist,
    outbase: dist,
    allowOverwrite: true,
    chunkNames: 'vendor/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // CommonJS packages call it.
    banner: {
      js: "import { createRequire as veravoxRequire } from 'node:module';const require = veravoxRequire(import.meta.url);",
    },
    nodePaths: [path.join(rootDir, 'node_modules')],
    metafile: true,
    logLevel: 'error',
    plugins: [
      {
        name: 'only-bundled-packages',
        setup({ onResolve }) {
          onResolve({ filter: /.*/ }, ({ path: specifier, importer, kind }) =>
            kind !== 'entry-point' && isOurs(importer) && !isBundled(packageOf(specifier))
              ? { path: specifier, external: true }
              : undefined,
          );
        },
      },
    ],
  });
  const folders = Object.keys(metafile.inputs).map((input) => packageFolder(path.resolve(input)));
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/** The folder of the package to which a file in node_modules belongs; undefined for other files. */
function packageFolder(file) {
  const [, folder] = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)/.exec(file) ?? [];
  return folder;
}
