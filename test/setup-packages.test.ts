// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
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
      assert.ok(lock.packages[`node_modules/${name}`]?.version, `${name} of ${location}`);
    }
  }
});

test('no dependency runs a script when it is installed', () => {
  assert.match(fs.readFileSync('.npmrc', 'utf8'), /^ignore-scripts=true$/m);
  const withScript = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
  // Two look for another binary where their own is missing, the last downloads CUDA libraries: all do without.
  assert.deepEqual(
    withScript.map(([location]) => location),
    ['node_modules/@swc/core', 'node_modules/esbuild', 'node_modules/onnxruntime-node'],
  );
});
