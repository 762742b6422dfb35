// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  /** A package of this repository. */
  readonly link?: true;
  readonly optional?: true;
  readonly hasInstallScript?: true;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, LockEntry>>;
};

test('the lock file names no registry, so that npm ci works with any', () => {
  assert.deepEqual(
    Object.entries(lock.packages).filter(([, { resolved, link }]) => resolved !== undefined && link !== true),
    [],
  );
});

test('the lock file lists the packages of every platform; npm ci refuses it otherwise', () => {
  for (const [location, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
    for (const name of Object.keys(optionalDependencies)) {
      const found =
        lock.packages[`${location}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
      assert.ok(found?.version, `${name} of ${location}`);
    }
  }
});

// The registry of the lock files lacks some packages of other platforms: those are pinned by version alone.
test('what is installed on x64 Linux is pinned by its hash', () => {
  const nodeLock = JSON.parse(fs.readFileSync('scripts/setup/node/package-lock.json', 'utf8')) as typeof lock;
  const withoutHash = [lock, nodeLock]
    .flatMap(({ packages }) => Object.entries(packages))
    .filter(([location, { link }]) => location.startsWith('node_modules/') && link !== true)
    .filter(
      ([, { os = 'linux', cpu = 'x64', libc = 'glibc' }]) =>
        os.includes('linux') && cpu.includes('x64') && libc.includes('glibc'),
    )
    .filter(([, { integrity }]) => integrity === undefined);
  assert.deepEqual(withoutHash, []);
});

test('no dependency runs a script when it is installed', () => {
  assert.match(fs.readFileSync('.npmrc', 'utf8'), /^ignore-scripts=true$/m);
  const withScript = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
  // Two look for another binary if theirs is missing, the last downloads CUDA libraries: all work without.
  assert.deepEqual(
    withScript.map(([location]) => location),
    ['node_modules/@swc/core', 'node_modules/esbuild', 'node_modules/onnxruntime-node'],
  );
});
