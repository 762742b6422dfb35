// SPDX-License-Identifier: Apache-2.0
//
// A release is made whole or not at all: tried in a clone, where nothing is lost.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { standInForPortableBuild } from '../support/installed-package.js';
import { tarEntry } from '../support/tarballs.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const identity = { name: 'Tester', email: 'tester@example.org' };
const env = {
  ...process.env,
  ...{ GIT_AUTHOR_NAME: identity.name, GIT_AUTHOR_EMAIL: identity.email },
  ...{ GIT_COMMITTER_NAME: identity.name, GIT_COMMITTER_EMAIL: identity.email },
};

function run(dir: string, program: string, ...args: string[]) {
  return spawnSync(program, args, { cwd: dir, env, encoding: 'utf8' });
}

const skip = run(packageDir, 'git', 'rev-parse', 'HEAD').status !== 0 && 'the checkout came without Git';

/** One by one: npm writes its list of them into this folder, which must not be that of the other. */
function linkPackages(from: string, to: string): void {
  fs.mkdirSync(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isFile()) fs.copyFileSync(source, target);
    // Links to workspaces are relative, and lead to those of this folder.
    else fs.symlinkSync(entry.isSymbolicLink() ? fs.readlinkSync(source) : source, target);
  }
}

function cloned(t: TestContext): string {
  const dir = path.join(temporaryFolder(t), 'clone');
  assert.equal(run(packageDir, 'git', 'clone', '--quiet', '--no-tags', packageDir, dir).status, 0);
  linkPackages(path.join(packageDir, 'node_modules'), path.join(dir, 'node_modules'));
  return dir;
}

/** Commits a change log with these entries under Unreleased, and nothing else there. */
function withEntries(dir: string, entries: string): void {
  const file = path.join(dir, 'CHANGELOG.md');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace(/^## Unreleased\n[\s\S]*?(?=^## \d)/m, `## Unreleased\n\n${entries}`));
  assert.equal(run(dir, 'git', 'commit', '--allow-empty', '--quiet', '--all', '--message', 'Log').status, 0);
}

const someEntries = '### Added\n\n- A feature.\n\n';

/** In place of an addon and an FFmpeg that take minutes. */
function withPortableBuild(dir: string): void {
  standInForPortableBuild(path.join(dir, 'build'));
  const program = `
    import { markFresh } from './scripts/setup/fingerprint.mjs';
    import { portableBuild } from './scripts/packages/platform-package.mjs';
    markFresh(portableBuild);`;
  const marked = run(dir, process.execPath, '--input-type=module', '--eval', program);
  assert.equal(marked.status, 0, marked.stderr);
}

/** In place of npm, a shell script that may end early. @returns the PATH that leads to it */
function npmWith(t: TestContext, script: string): string {
  const bin = temporaryFolder(t);
  const npm = run(bin, 'which', 'npm').stdout.trim();
  fs.writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${script}\nexec ${npm} "$@"\n`, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

/** Takes the compiled files of this clone; one test compiles. */
const withoutCompiler = (t: TestContext): string =>
  npmWith(
    t,
    `[ "$1 $2" != "run build:ts" ] || { cp -r '${packageDir}/dist' . && exec node scripts/build-commit.mjs; }`,
  );

const read = (dir: string, name: string): string => fs.readFileSync(path.join(dir, name), 'utf8');
const release = (dir: string, version: string, searched = process.env.PATH) =>
  run(dir, 'env', `PATH=${searched}`, process.execPath, path.join(dir, 'scripts/release.mjs'), version);

test('an unreleasable version is refused, and nothing changes', { skip }, (t) => {
  const dir = cloned(t);
  withEntries(dir, '');
  assert.match(release(dir, '99.0.0').stderr, /^CHANGELOG\.md has nothing under Unreleased\.$/m);
  withEntries(dir, someEntries);
  const { version } = JSON.parse(read(dir, 'package.json'));
  for (const [wrong, problem] of [
    ['', /Expected a version such as/],
    ['1.0', /Expected a version such as/],
    [version, /Expected a version after/],
    ['0.1.9', /Expected a version after/],
  ] as const) {
    const { status, stderr } = release(dir, wrong);
    assert.match(stderr, problem);
    assert.equal(status, 1);
  }
  fs.appendFileSync(path.join(dir, 'README.md'), 'more');
  assert.match(release(dir, '99.0.0').stderr, /Commit these changes first:\n M README\.md/);
  assert.equal(run(dir, 'git', 'checkout', '--quiet', '.').status, 0);
  // Fails after the commit: nothing can be compiled.
  withPortableBuild(dir);
  fs.rmSync(path.join(dir, 'tsconfig.json'));
  assert.equal(run(dir, 'git', 'commit', '--quiet', '--all', '--message', 'Break it').status, 0);
  assertReleasesNothing(dir);
  // Fails at the last step: tags must be signed, and nothing signs them.
  assert.equal(run(dir, 'git', 'reset', '--quiet', '--hard', 'HEAD~').status, 0);
  assert.equal(run(dir, 'git', 'config', 'tag.gpgSign', 'true').status, 0);
  assert.equal(run(dir, 'git', 'config', 'gpg.program', 'false').status, 0);
  const failing = () => release(dir, '99.0.0', withoutCompiler(t));
  assert.match(assertReleasesNothing(dir, failing), /failed to sign|gpg/);
});

test('after Ctrl-C, nothing has changed', { skip }, (t) => {
  const dir = cloned(t);
  withEntries(dir, someEntries);
  withPortableBuild(dir);
  // Interrupts its process group, as a terminal does, once the release is committed.
  const inPath = `PATH=${npmWith(t, '[ "$1 $2" != "run build:ts" ] || kill -INT 0')}`;
  const program = path.join(dir, 'scripts/release.mjs');
  const inOwnGroup = () => run(dir, 'setsid', '--wait', 'env', inPath, process.execPath, program, '99.0.0');
  assert.match(assertReleasesNothing(dir, inOwnGroup), /^\$ npm run build:ts$/m);
});

/** @returns the errors */
function assertReleasesNothing(dir: string, start = () => release(dir, '99.0.0')): string {
  const before = run(dir, 'git', 'rev-parse', 'HEAD').stdout;
  const { status, stderr } = start();
  assert.equal(status, 1, stderr);
  assert.equal(run(dir, 'git', 'rev-parse', 'HEAD').stdout, before);
  assert.deepEqual([run(dir, 'git', 'status', '--short').stdout, run(dir, 'git', 'tag').stdout], ['', '']);
  return stderr;
}

const platform = `${process.platform}-${process.arch}`;

/** Of a release, with FFmpeg's source of the stand-in. */
const filesOf = (version: string): string[] =>
  [
    ...['CHANGES.md', 'LICENCES.txt', 'PROVENANCE.md', 'SHA256SUMS', 'ffmpeg_0.dsc'],
    `veravox-${version}.cdx.json`,
    `veravox-${version}.tgz`,
    `veravox-${platform}-${version}.tgz`,
    `veravox-client-${version}.tgz`,
    `veravox-chart-${version}.tgz`,
  ].sort();

interface Bill {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly { readonly license: { readonly name: string } }[];
  }[];
}

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Name and version of everything that the tarball of the server installs or has inside, judged by the tarball. */
function containedIn(dir: string, tarball: string): string[] {
  const { packages } = JSON.parse(read(dir, 'package-lock.json')) as { packages: Record<string, Locked> };
  const described = JSON.parse(tarEntry(tarball, 'package/package.json')) as Locked;
  const found = new Map<string, Locked>();
  const follow = ({ dependencies, optionalDependencies }: Locked, from: string): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      // As Node looks for it: beside, then further up.
      let folder = from;
      while (packages[`${folder}node_modules/${name}`] === undefined && folder !== '')
        folder = folder.replace(/(?:^|(?<=\/))node_modules\/(?:@[^/]+\/)?[^/]+\/$/, '');
      const location = `${folder}node_modules/${name}`;
      const locked = packages[location] ?? { version: optionalDependencies?.[name] ?? 'not locked' };
      if (found.has(location) || locked.os?.includes('linux') === false) continue;
      found.set(location, locked);
      follow(locked, `${location}/`);
    }
  };
  follow(described, '');
  const installed = [...found].map(([location, { name, version }]) => {
    return `${name ?? location.replace(/.*node_modules\//, '')} ${version}`;
  });
  const matchesIn = (file: string, pattern: RegExp): string[] =>
    [...tarEntry(tarball, `package/${file}`).matchAll(pattern)].map(([, match = '']) => match);
  const bundled = matchesIn('THIRD-PARTY-LICENCES', /^(\S+ \d\S*) \(.+\)$/gm);
  const inPages = matchesIn('dist/dashboard/LICENSES.txt', /^([a-z-]+)\n\n/gm);
  assert.ok(bundled.length > 10 && inPages.includes('preact') && inPages.includes('uplot'), `${inPages}`);
  assert.ok(tarEntry(tarball, 'package/dist/docs-page/swagger-ui.css').length > 0);
  const pages = [...inPages, 'swagger-ui-dist'].map(
    (name) => `${name} ${packages[`node_modules/${name}`]?.version}`,
  );
  return [...installed, ...bundled, ...pages];
}

test('a dry run makes the files of the present state, and changes nothing else', { skip }, (t) => {
  const dir = cloned(t);
  withEntries(dir, someEntries);
  withPortableBuild(dir);
  const before = run(dir, 'git', 'rev-parse', 'HEAD').stdout;
  const { status, stderr } = release(dir, '--pack-only', withoutCompiler(t));
  assert.equal(status, 0, stderr);
  assert.equal(run(dir, 'git', 'rev-parse', 'HEAD').stdout, before);
  assert.deepEqual([run(dir, 'git', 'status', '--short').stdout, run(dir, 'git', 'tag').stdout], ['', '']);

  const { version } = JSON.parse(read(dir, 'package.json')) as { version: string };
  const outDir = path.join(dir, 'build/release');
  assert.deepEqual(fs.readdirSync(outDir).sort(), filesOf(version));
  assert.equal(run(outDir, 'sha256sum', '--check', '--strict', 'SHA256SUMS').status, 0);
  const summed = read(outDir, 'SHA256SUMS').trim().split('\n');
  assert.equal(summed.length, filesOf(version).length - 1, 'all files but itself');

  const { bomFormat, components } = JSON.parse(read(outDir, `veravox-${version}.cdx.json`)) as Bill;
  assert.equal(bomFormat, 'CycloneDX');
  const licences = read(outDir, 'LICENCES.txt');
  assert.deepEqual(
    components.map(({ name, version: of, licenses }) => `${name} ${of}: ${licenses[0]?.license.name}`),
    licences.trim().split('\n'),
  );
  const purls = components.map(({ purl }) => purl);
  assert.equal(new Set(purls).size, purls.length);
  const named = components.map(({ name, version: of }) => `${name} ${of}`);
  const contained = containedIn(dir, path.join(outDir, `veravox-${version}.tgz`));
  assert.ok(contained.length > 80, `${contained.length}`);
  for (const part of [...contained, 'FFmpeg 0', 'zlib 0']) assert.ok(named.includes(part), part);
  assert.match(licences, /^onnxruntime-node \S+: MIT$/m);
  assert.match(licences, /^FFmpeg 0: LGPL-2\.1-or-later$/m);
  assert.doesNotMatch(licences, /: (not|undefined)|[^L]GPL/);
  assert.equal(read(outDir, 'CHANGES.md').trim(), `## Unreleased\n\n${someEntries.trim()}`);
  assert.ok(read(outDir, 'PROVENANCE.md').includes(`| Commit | ${before.trim()} |`));

  const server = path.join(outDir, `veravox-${version}.tgz`);
  const { dependencies, optionalDependencies } = JSON.parse(tarEntry(server, 'package/package.json'));
  assert.equal(optionalDependencies[`@veravox/${platform}`], version);
  const texts = tarEntry(server, 'package/THIRD-PARTY-LICENCES');
  assert.ok(texts.includes('@aws-sdk/client-s3') && !('@aws-sdk/client-s3' in dependencies));
});

test('a release is dated, committed and tagged', { skip }, (t) => {
  const dir = cloned(t);
  withEntries(dir, someEntries);
  withPortableBuild(dir);
  const { status, stderr } = release(dir, '99.0.0');
  assert.equal(status, 0, stderr);
  assert.equal(run(dir, 'git', 'status', '--short').stdout, '');
  assert.equal(run(dir, 'git', 'describe').stdout, 'v99.0.0\n');
  assert.match(read(dir, 'CHANGELOG.md'), /^## Unreleased\n\n## 99\.0\.0 - \d{4}-\d\d-\d\d\n\n### /m);
  const { version: locked, packages } = JSON.parse(read(dir, 'package-lock.json'));
  assert.deepEqual([locked, packages[''].version, packages.client.version], ['99.0.0', '99.0.0', '99.0.0']);
  const changedLines = run(dir, 'git', 'show', '--format=', '--numstat', 'HEAD', 'package-lock.json').stdout;
  assert.equal(changedLines, '4\t4\tpackage-lock.json\n');
  assert.match(read(dir, 'client/README.md'), /veravox-client-99\.0\.0\.tgz/);
  assert.match(read(dir, 'docs/install.md'), /veravox-99\.0\.0\.tgz .*veravox-linux-x64-99\.0\.0\.tgz/);

  const outDir = path.join(dir, 'build/release');
  assert.deepEqual(fs.readdirSync(outDir).sort(), filesOf('99.0.0'));
  assert.match(read(outDir, 'CHANGES.md'), /^## 99\.0\.0 - [^\n]*\n\n### Added\n\n- A feature\.\n/);
  const chart = tarEntry(path.join(outDir, 'veravox-chart-99.0.0.tgz'), 'veravox/Chart.yaml');
  assert.match(chart, /^version: 99\.0\.0\nappVersion: 99\.0\.0$/m);
  assert.match(read(dir, 'docs/kubernetes.md'), /docker build -t \S+\/veravox:99\.0\.0 /);
  const head = run(dir, 'git', 'rev-parse', '--short=12', 'HEAD').stdout;
  assert.equal(tarEntry(path.join(outDir, 'veravox-99.0.0.tgz'), 'package/dist/commit'), head);
});
