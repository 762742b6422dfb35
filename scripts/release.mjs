// SPDX-License-Identifier: Apache-2.0
//
// Releases a version: dates the changelog, sets the version everywhere, commits and tags that, and leaves in build/release the packages,
// a bill of materials (CycloneDX) and checksums. Nothing is pushed or published. If it fails, nothing has changed.
//
//   npm run release 0.4.0
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { rootDir, SetupError } from './setup/step.mjs';
import { runAsProgram } from './setup.mjs';

const outDir = path.join(rootDir, 'build/release');
const fileOf = (name) => path.join(rootDir, name);

/** @returns standard output */
function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: rootDir, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new SetupError(`$ ${[program, ...args].join(' ')}\n${error?.message ?? `${stdout}${stderr}`}`);
}

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
  for (const name of ['client/README.md', 'clients/python/README.md']) {
    const page = fs.readFileSync(fileOf(name), 'utf8');
    fs.writeFileSync(fileOf(name), page.replaceAll(`-${current}`, `-${version}`));
  }
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline');
}

function writeFiles(version) {
  fs.rmSync(outDir, { recursive: true, force: true });
  fs.mkdirSync(outDir, { recursive: true });
  run('npm', 'run', 'build:ts');
  run('npm', 'run', 'build', '--workspace', 'client');
  run('npm', 'pack', '--pack-destination', outDir);
  run('npm', 'pack', '--workspace', 'client', '--pack-destination', outDir);
  const materials = run('npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--omit', 'dev');
  fs.writeFileSync(path.join(outDir, `veravox-${version}.cdx.json`), materials);
  const sums = fs.readdirSync(outDir).map((name) => {
    const content = fs.readFileSync(path.join(outDir, name));
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  fs.writeFileSync(path.join(outDir, 'SHA256SUMS'), sums.sort().join(''));
}

await runAsProgram(async () => {
  const [version = ''] = process.argv.slice(2);
  const { version: current } = JSON.parse(fs.readFileSync(fileOf('package.json'), 'utf8'));
  refuseUnreleasable(version, current);
  const before = run('git', 'rev-parse', 'HEAD').trim();
  try {
    setVersion(version, current);
    run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
    writeFiles(version);
  } catch (error) {
    run('git', 'reset', '--quiet', '--hard', before);
    throw error;
  }
  run('git', 'tag', '--annotate', '--message', `veravox ${version}`, `v${version}`);
  console.log(`Tagged v${version}. These files are in ${path.relative(rootDir, outDir)}:`);
  console.log(fs.readFileSync(path.join(outDir, 'SHA256SUMS'), 'utf8'));
});
