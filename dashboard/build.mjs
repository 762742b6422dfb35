// SPDX-License-Identifier: Apache-2.0
//
// Builds the dashboard to dist/dashboard: files with a hash in their names, each also compressed, the page that names
// them, and the licences of what they contain.
import '../scripts/needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { build } from 'esbuild';

const dashboardDir = import.meta.dirname;
const rootDir = path.resolve(dashboardDir, '..');
const outDir = path.join(rootDir, 'dist/dashboard');
const assetDir = path.join(outDir, 'assets');

const shared = {
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
// The dashboard is a client like any other.
const foreign = inputs.filter(
  (file) => !/^(?:dashboard|client)\/src\/|^node_modules\/(?:preact|uplot)\//.test(file),
);
if (foreign.length > 0) fail(`imports ${foreign.join(', ')}`);

const names = fs.readdirSync(assetDir).sort();
const only = (pattern) => names.find((name) => pattern.test(name)) ?? fail(`no asset like ${pattern}`);
const page = fs
  .readFileSync(path.join(dashboardDir, 'index.html'), 'utf8')
  .replace('main.js', only(/^main-.*\.js$/))
  .replace('main.css', only(/^main-.*\.css$/));
fs.writeFileSync(path.join(outDir, 'index.html'), page);
fs.writeFileSync(path.join(outDir, 'LICENSES.txt'), licences());
for (const name of names) {
  const content = fs.readFileSync(path.join(assetDir, name));
  fs.writeFileSync(path.join(assetDir, `${name}.br`), zlib.brotliCompressSync(content));
  fs.writeFileSync(path.join(assetDir, `${name}.gz`), zlib.gzipSync(content, { level: 9 }));
}

/** The licence of each package that a file contains. */
function licences() {
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

function fail(problem) {
  throw new Error(`Dashboard: ${problem}.`);
}
