// SPDX-License-Identifier: Apache-2.0
//
// Builds the dashboard to dist/dashboard: files with a hash in their names, each also compressed, the page that names
// them, and the licences of what they contain; and the pages of commands to dist/offline.
import '../scripts/needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { build } from 'esbuild';
import { buildOffline } from './build-offline.mjs';
import { checkInputs, dashboardDir, fail, licencesOf, rootDir, shared } from './bundle.mjs';

const outDir = path.join(rootDir, 'dist/dashboard');
const assetDir = path.join(outDir, 'assets');

const STANDALONE = '?standalone';
/** What the files of workers and worklets are made of. */
const standaloneInputs = [];

/** `import address from './x.js?standalone'`: a module for a worker or an audio worklet, bundled into a file of its own. */
const standaloneFiles = {
  name: 'standalone-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?standalone$/ }, ({ path: name, resolveDir }) => ({
      path: path.resolve(resolveDir, name.slice(0, -STANDALONE.length)),
      namespace: 'standalone',
    }));
    onLoad({ filter: /.*/, namespace: 'standalone' }, async ({ path: file }) => {
      const entry = file.replace(/\.js$/, '.ts');
      const { outputFiles, metafile } = await build({ ...shared, entryPoints: [entry], write: false });
      standaloneInputs.push(...Object.keys(metafile.inputs));
      return { contents: outputFiles[0].contents, loader: 'file' };
    });
  },
};

fs.rmSync(outDir, { recursive: true, force: true });
const { metafile } = await build({
  ...shared,
  entryPoints: [path.join(dashboardDir, 'src/main.tsx')],
  outdir: assetDir,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  splitting: true,
  plugins: [standaloneFiles],
});

const inputs = [...Object.keys(metafile.inputs), ...standaloneInputs].filter(
  (file) => !file.startsWith('standalone:'),
);
checkInputs(inputs);

const names = fs.readdirSync(assetDir).sort();
const only = (pattern) => names.find((name) => pattern.test(name)) ?? fail(`no asset like ${pattern}`);
const page = fs
  .readFileSync(path.join(dashboardDir, 'index.html'), 'utf8')
  .replace('main.js', only(/^main-.*\.js$/))
  .replace('main.css', only(/^main-.*\.css$/));
fs.writeFileSync(path.join(outDir, 'index.html'), page);
fs.writeFileSync(path.join(outDir, 'LICENSES.txt'), licencesOf(inputs));
for (const name of names) {
  const content = fs.readFileSync(path.join(assetDir, name));
  fs.writeFileSync(path.join(assetDir, `${name}.br`), zlib.brotliCompressSync(content));
  fs.writeFileSync(path.join(assetDir, `${name}.gz`), zlib.gzipSync(content, { level: 9 }));
}

await buildOffline();
