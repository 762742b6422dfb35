// SPDX-License-Identifier: Apache-2.0
//
// Releases a version: dates the changelog, sets the version everywhere, commits and tags that, and leaves in build/release the packages,
// the Helm chart, FFmpeg's source, a bill of materials (CycloneDX), the licences, the version's changes, notes on provenance, and
// checksums. Nothing is pushed or published. If it fails, nothing has changed.
//
//   npm run release 0.4.0
//   npm run release -- --pack-only   makes the files of the present state, for trying them
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ensureNpmPackages } from './setup/npm-packages.mjs';
import { rootDir, run, SetupError } from './setup/step.mjs';
import { runAsProgram } from './setup.mjs';

const packOnly = '--pack-only';
const outDir = path.join(rootDir, 'build/release');
const fileOf = (name) => path.join(rootDir, name);

/** @throws SetupError if `pattern` is not there exactly once */
function replaceIn(name, pattern, replacement) {
  const text = fs.readFileSync(fileOf(name), 'utf8');
  const found = text.match(new RegExp(pattern, 'gm')) ?? [];
  if (found.length !== 1)
    throw new SetupError(`Expected ${pattern} once in ${name}, but found it ${found.length} times.`);
  fs.writeFileSync(fileOf(name), text.replace(new RegExp(pattern, 'm'), replacement));
}

function isNewer(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  const first = a.findIndex((part, index) => part !== b[index]);
  return first >= 0 && a[first] > b[first];
}

function refuseUnreleasable(version, current) {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new SetupError(`Expected a version such as 0.4.0, but received ${version}.`);
  if (!isNewer(version, current))
    throw new SetupError(`Expected a version after ${current}, but received ${version}.`);
  if (run('git', 'tag', '--list', `v${version}`) !== '') throw new SetupError(`The tag v${version} exists.`);
  if (!/^## Unreleased\n\n### /m.test(fs.readFileSync(fileOf('CHANGELOG.md'), 'utf8'))) {
    throw new SetupError('CHANGELOG.md has nothing under Unreleased.');
  }
  const changed = run('git', 'status', '--porcelain');
  if (changed !== '') throw new SetupError(`Commit these changes first:\n${changed}`);
}

function setVersion(version, current) {
  const day = new Date().toISOString().slice(0, 10);
  replaceIn('CHANGELOG.md', '^## Unreleased\\n\\n(?=### )', `## Unreleased\n\n## ${version} - ${day}\n\n`);
  for (const name of ['package.json', 'client/package.json', 'dashboard/package.json']) {
    replaceIn(name, `^  "version": "${current.replaceAll('.', '\\.')}"`, `  "version": "${version}"`);
  }
  const pattern = `^version = "${current.replaceAll('.', '\\.')}"`;
  replaceIn('clients/python/pyproject.toml', pattern, `version = "${version}"`);
  for (const field of ['version', 'appVersion']) {
    const line = `^${field}: ${current.replaceAll('.', '\\.')}$`;
    replaceIn('deploy/helm/veravox/Chart.yaml', line, `${field}: ${version}`);
  }
  const images = fs.readFileSync(fileOf('docs/kubernetes.md'), 'utf8');
  const changed = images.replaceAll(`/veravox:${current}`, `/veravox:${version}`);
  fs.writeFileSync(fileOf('docs/kubernetes.md'), changed);
  // Of packages: tarballs and wheels.
  const packages = new RegExp(`-${current.replaceAll('.', '\\.')}(?=\\.t|-py3)`, 'g');
  for (const name of ['client/README.md', 'clients/python/README.md', 'docs/install.md']) {
    const page = fs.readFileSync(fileOf(name), 'utf8');
    fs.writeFileSync(fileOf(name), page.replaceAll(packages, `-${version}`));
  }
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline');
}

/** The section of the changelog. */
function changesUnder(title) {
  const sections = fs.readFileSync(fileOf('CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  return sections.find((section) => section.startsWith(`## ${title}`)) ?? '';
}

/** Every part of the server's packages that others have made, and our own packages for platforms. */
async function partsOf(version, ffmpeg) {
  const { licencesOfServer } = await import('./licences.mjs');
  const { platformPackage, platforms, platformLicence } = await import('./packages/platform-package.mjs');
  const debianPurl = (name, of) => `pkg:deb/debian/${name}@${encodeURIComponent(of)}?arch=source`;
  return [
    ...licencesOfServer(),
    ...platforms.map((platform) => ({ name: platformPackage(platform), version, licence: platformLicence })),
    {
      name: 'FFmpeg',
      version: ffmpeg.version,
      licence: 'LGPL-2.1-or-later',
      purl: debianPurl('ffmpeg', ffmpeg.version),
    },
    { name: 'zlib', version: ffmpeg.zlib, licence: 'Zlib', purl: debianPurl('zlib', ffmpeg.zlib) },
  ];
}

function provenance(version, ffmpeg) {
  const { PRETTY_NAME: system = '' } = Object.fromEntries(
    fs
      .readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.replaceAll('"', '').split('=')),
  );
  return `# Provenance of veravox ${version}

| | |
|---|---|
| Commit | ${run('git', 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*').trim()} |
| Command | \`npm run release\` |
| System | ${system}, ${process.arch}, ${run('ldd', '--version').split('\n')[0]} |
| Compiler | ${run('g++', '--version').split('\n')[0]} |
| Node | ${process.version} |
| npm packages | pinned by version and hash in \`package-lock.json\` of the commit |
| FFmpeg | ${ffmpeg.version}, source package from the system's mirrors, checked by apt; its files are in this folder |

\`SHA256SUMS\` has the checksums of all files: \`sha256sum --check SHA256SUMS\`. They are not signed.
`;
}

/** @returns the folder of ensurePortableBuild; before the version changes package-lock.json, from which it is built */
async function builtForOthers() {
  await ensureNpmPackages();
  const { ensurePortableBuild } = await import('./packages/platform-package.mjs');
  return ensurePortableBuild();
}

async function writeFiles(version, portable, changes) {
  fs.rmSync(outDir, { recursive: true, force: true });
  fs.mkdirSync(outDir, { recursive: true });
  run('npm', 'run', 'build:ts');
  run('npm', 'run', 'build', '--workspace', 'client');
  const { packAll } = await import('./packages/packages.mjs');
  const { readFfmpeg } = await import('./packages/platform-package.mjs');
  await packAll(outDir, portable);
  // Not the name that Helm would give it, which is that of the npm package.
  const chart = path.join(outDir, `veravox-chart-${version}.tgz`);
  run(
    'tar',
    '--create',
    '--gzip',
    '--file',
    chart,
    '--owner=0',
    '--group=0',
    '--directory=deploy/helm',
    'veravox',
  );
  for (const name of fs.readdirSync(path.join(portable, 'source')))
    fs.copyFileSync(path.join(portable, 'source', name), path.join(outDir, name));
  const { licenceList } = await import('./licences.mjs');
  const { billOf } = await import('./container/licences.mjs');
  const ffmpeg = readFfmpeg(portable);
  const parts = await partsOf(version, ffmpeg);
  const texts = {
    [`veravox-${version}.cdx.json`]: `${JSON.stringify(billOf(parts), undefined, 2)}\n`,
    'LICENCES.txt': licenceList(parts),
    'CHANGES.md': changesUnder(changes),
    'PROVENANCE.md': provenance(version, ffmpeg),
  };
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(path.join(outDir, name), text);
  const sums = fs.readdirSync(outDir).map((name) => {
    const content = fs.readFileSync(path.join(outDir, name));
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  fs.writeFileSync(path.join(outDir, 'SHA256SUMS'), sums.sort().join(''));
}

async function release(version, current) {
  refuseUnreleasable(version, current);
  const portable = await builtForOthers();
  const before = run('git', 'rev-parse', 'HEAD').trim();
  // Ctrl-C ends the program that runs, not this one, which takes everything back then.
  process.on('SIGINT', () => {});
  try {
    setVersion(version, current);
    run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
    await writeFiles(version, portable, `${version} - `);
    run('git', 'tag', '--annotate', '--message', `veravox ${version}`, `v${version}`);
  } catch (error) {
    run('git', 'reset', '--quiet', '--hard', before);
    throw error;
  }
  console.log(`Tagged v${version}.`);
}

await runAsProgram(async () => {
  const [version = ''] = process.argv.slice(2);
  const { version: current } = JSON.parse(fs.readFileSync(fileOf('package.json'), 'utf8'));
  if (version === packOnly) await writeFiles(current, await builtForOthers(), 'Unreleased');
  else await release(version, current);
  console.log(`These files are in ${path.relative(rootDir, outDir)}:`);
  console.log(fs.readFileSync(path.join(outDir, 'SHA256SUMS'), 'utf8'));
});
