// SPDX-License-Identifier: Apache-2.0
//
// Lists the licences of all packages that a server installs or contains, one per line.
//
//   node scripts/licences.mjs
import './needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { licencesOfPages, packageIn } from './container/licences.mjs';
import { rootDir } from './setup/step.mjs';

const readJson = (...parts) => JSON.parse(fs.readFileSync(path.join(...parts), 'utf8'));

/** @returns name, version and licence of every package that package-lock.json has for servers on Linux, and of those in pages */
export function licencesOfServer() {
  const { packages } = readJson(rootDir, 'package-lock.json');
  const installed = Object.entries(packages)
    .filter(([location, { dev, link }]) => location.includes('node_modules/') && !dev && !link)
    .filter(([, { os = ['linux'] }]) => os.includes('linux'))
    .map(([location, { name = nameAt(location), version, license }]) => ({
      name,
      version,
      licence: license ?? installedLicence(location),
    }));
  const byNameAndVersion = new Map(
    [...installed, ...licencesOfPages(packages)].map((one) => [`${one.name} ${one.version}`, one]),
  );
  return [...byNameAndVersion.values()].sort(
    (a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version),
  );
}

const nameAt = (location) => location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);

function installedLicence(location) {
  const folder = path.join(rootDir, location);
  if (!fs.existsSync(folder)) return 'not installed here';
  const { license, licenses } = readJson(folder, 'package.json');
  return license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'not stated';
}

export const licenceList = (parts = licencesOfServer()) =>
  parts.map(({ name, version, licence }) => `${name} ${version}: ${licence}\n`).join('');

/** The licences of these packages, in full; each text once. */
export function licenceTexts(folders) {
  const namesByText = new Map();
  for (const { name, version, licence, texts } of folders.map(packageIn)) {
    const text = texts.join('\n\n');
    namesByText.set(text, [...(namesByText.get(text) ?? []), `${name} ${version} (${licence})`]);
  }
  return [...namesByText]
    .map(([text, names]) => `${names.join('\n')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(72)}\n\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) process.stdout.write(licenceList());
