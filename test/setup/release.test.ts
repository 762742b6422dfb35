// SPDX-License-Identifier: Apache-2.0
//
// A release is made whole or not at all: tried in a clone, where nothing is lost.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
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

function cloned(t: TestContext): string {
  const dir = path.join(temporaryFolder(t), 'clone');
  assert.equal(run(packageDir, 'git', 'clone', '--quiet', '--no-tags', packageDir, dir).status, 0);
  fs.symlinkSync(path.join(packageDir, 'node_modules'), path.join(dir, 'node_modules'));
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

const read = (dir: string, name: string): string => fs.readFileSync(path.join(dir, name), 'utf8');
const release = (dir: string, version: string) =>
  run(dir, process.execPath, path.join(dir, 'scripts/release.mjs'), version);

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
  // Fails after the commit: the client cannot be built.
  fs.rmSync(path.join(dir, 'client/tsconfig.json'));
  assert.equal(run(dir, 'git', 'commit', '--quiet', '--all', '--message', 'Break it').status, 0);
  const before = run(dir, 'git', 'rev-parse', 'HEAD').stdout;
  assert.equal(release(dir, '99.0.0').status, 1);
  assert.equal(run(dir, 'git', 'rev-parse', 'HEAD').stdout, before);
  assert.deepEqual([run(dir, 'git', 'status', '--short').stdout, run(dir, 'git', 'tag').stdout], ['', '']);
});

test('a release is dated, committed and tagged, with packages, materials and checksums', { skip }, (t) => {
  const dir = cloned(t);
  withEntries(dir, someEntries);
  const { status, stderr } = release(dir, '99.0.0');
  assert.equal(status, 0, stderr);
  assert.equal(run(dir, 'git', 'status', '--short').stdout, '');
  assert.equal(run(dir, 'git', 'describe').stdout, 'v99.0.0\n');
  assert.match(read(dir, 'CHANGELOG.md'), /^## Unreleased\n\n## 99\.0\.0 - \d{4}-\d\d-\d\d\n\n### /m);
  const { version: locked, packages } = JSON.parse(read(dir, 'package-lock.json'));
  assert.deepEqual([locked, packages[''].version, packages.client.version], ['99.0.0', '99.0.0', '99.0.0']);
  assert.match(read(dir, 'client/README.md'), /veravox-client-99\.0\.0\.tgz/);

  const outDir = path.join(dir, 'build/release');
  assert.deepEqual(fs.readdirSync(outDir).sort(), [
    'SHA256SUMS',
    'veravox-99.0.0.cdx.json',
    'veravox-99.0.0.tgz',
    'veravox-client-99.0.0.tgz',
  ]);
  assert.equal(run(outDir, 'sha256sum', '--check', '--strict', 'SHA256SUMS').status, 0);
  const { bomFormat, components } = JSON.parse(read(outDir, 'veravox-99.0.0.cdx.json'));
  assert.equal(bomFormat, 'CycloneDX');
  assert.ok(components.some(({ name }: { name: string }) => name === 'onnxruntime-node'));
  const head = run(dir, 'git', 'rev-parse', '--short=12', 'HEAD').stdout;
  const packed = run(outDir, 'tar', '-xzOf', 'veravox-99.0.0.tgz', 'package/dist/commit');
  assert.equal(packed.stdout, head);
});
