// SPDX-License-Identifier: Apache-2.0
//
// Builds dist/offline/writer.js, with which commands write pages and plots: the views, and the styles and scripts that it puts
// into pages.
import '../scripts/needs-node.mjs';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { checkInputs, dashboardDir, fail, licencesOf, rootDir, shared } from './bundle.mjs';

export async function buildOffline() {
  const built = {
    reportStyle: inline(await style('report.css')),
    timelineStyle: inline(await style('timeline.css')),
    timelineScript: inline(await bundle('timelines.tsx', { format: 'iife' })),
    plotStyle: await style('plot.css'),
  };
  const writer = await bundle('writer.tsx', {
    platform: 'node',
    target: 'node22',
    banner: { js: `const built = ${JSON.stringify(built)};` },
  });
  const outDir = path.join(rootDir, 'dist/offline');
  fs.mkdirSync(outDir, { recursive: true });
  fs.writeFileSync(path.join(outDir, 'writer.js'), writer);
}

/** A bundle as text, with the licences of what it contains. */
async function bundle(entry, options) {
  const { outputFiles, metafile } = await build({
    ...shared,
    entryPoints: [path.join(dashboardDir, 'src/offline', entry)],
    write: false,
    ...options,
  });
  const inputs = Object.keys(metafile.inputs);
  checkInputs(inputs);
  const licences = licencesOf(inputs);
  return licences === '' ? outputFiles[0].text : `/*!\n${licences}*/\n${outputFiles[0].text}`;
}

/** Without a script, the colours follow the system by themselves. */
async function style(entry) {
  const dark = /:root\[data-theme="?dark"?\]\{([^}]*)\}/;
  const text = await bundle(entry, {});
  if (!dark.test(text)) fail(`${entry} has no dark colours`);
  return text.replace(dark, '@media (prefers-color-scheme:dark){:root{$1}}').trim();
}

const inline = (text) => ({
  text,
  hash: `sha256-${crypto.createHash('sha256').update(text).digest('base64')}`,
});
