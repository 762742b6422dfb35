// SPDX-License-Identifier: Apache-2.0
//
// Lists the npm packages in node_modules and in the pages: their licences with the texts, or a bill of materials in CycloneDX. Unlike
// `npm sbom --omit dev`, it leaves out none that a development package needs as well.
//
//   node scripts/container/licences.mjs > licences.txt
//   node scripts/container/licences.mjs --cyclonedx > sbom.cdx.json
import '../needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundledPackages } from '../../dashboard/bundle.mjs';

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

/** Packages for development whose parts are in dist: of the dashboard, and of the page at /docs. Their texts are there as well. */
const packagesInPages = [...bundledPackages, 'swagger-ui-dist'];

/** @param packages of package-lock.json */
export const licencesOfPages = (packages) =>
  packagesInPages.map((name) => {
    const { version, license } = packages[`node_modules/${name}`];
    return { name, version, licence: license, texts: [] };
  });

const npmPurl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** In CycloneDX. */
export const billOf = (parts) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  components: parts.map(({ name, version, licence, purl = npmPurl({ name, version }) }) => ({
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ license: { name: licence } }],
  })),
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const packages = [...licencesOf('node_modules'), ...licencesOfPages(lock.packages)];
  if (process.argv.includes('--cyclonedx')) {
    console.log(JSON.stringify(billOf(packages), undefined, 2));
  } else {
    for (const { name, version, licence, texts } of packages) {
      console.log([`=== ${name} ${version}: ${licence}`, ...texts].join('\n\n'), '\n');
    }
  }
}
