// SPDX-License-Identifier: Apache-2.0
//
// Lists the npm packages in node_modules: their licences with the texts, or a bill of materials in CycloneDX. Unlike `npm sbom
// --omit dev`, it leaves out none that a development package needs as well.
//
//   node scripts/container/licences.mjs > licences.txt
//   node scripts/container/licences.mjs --cyclonedx > sbom.cdx.json
import '../needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** @returns the folders of all packages, nested ones included */
function packageFolders(nodeModulesDir) {
  if (!fs.existsSync(nodeModulesDir)) return [];
  return fs
    .readdirSync(nodeModulesDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => {
      const dir = path.join(nodeModulesDir, name);
      if (name.startsWith('@')) return packageFolders(dir);
      return [dir, ...packageFolders(path.join(dir, 'node_modules'))];
    })
    .filter((dir) => fs.existsSync(path.join(dir, 'package.json')));
}

/** A package, with the texts of its licences and notices. */
export function packageIn(dir) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  const texts = fs
    .readdirSync(dir)
    .filter((file) => /^(licen[cs]e|copying|notice|third.?party)/i.test(file))
    .filter((file) => fs.statSync(path.join(dir, file)).isFile())
    .sort()
    .map((file) => fs.readFileSync(path.join(dir, file), 'utf8').trim());
  return { name, version, licence: license ?? 'see the text', texts };
}

export const licencesOf = (nodeModulesDir) =>
  packageFolders(nodeModulesDir)
    .map(packageIn)
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export const billOf = (packages) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  components: packages.map(({ name, version, licence }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { name: licence } }],
  })),
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const packages = licencesOf('node_modules');
  if (process.argv.includes('--cyclonedx')) {
    console.log(JSON.stringify(billOf(packages), undefined, 2));
  } else {
    for (const { name, version, licence, texts } of packages) {
      console.log([`=== ${name} ${version}: ${licence}`, ...texts].join('\n\n'), '\n');
    }
  }
}
