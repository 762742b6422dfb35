// SPDX-License-Identifier: Apache-2.0
//
// Every command and script reports a Node that is too old in one sentence.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { asNode } from '../support/old-node.js';

const oneSentence = /^[^\n]*Expected Node 22\.9 or later, but this is v(\d+\.\d+\.\d+); [^\n]*\.\n$/;

const read = (file: string) => JSON.parse(fs.readFileSync(path.join(packageDir, file), 'utf8'));

/** A folder with this project's programs and scripts, where npm provides nothing. */
function clone(context: TestContext): string {
  const dir = temporaryFolder(context);
  const bin = path.join(dir, 'bin');
  fs.mkdirSync(bin);
  fs.symlinkSync(process.execPath, path.join(bin, 'node'));
  for (const name of ['npm', 'npx', 'tsc', 'biome', 'depcruise', 'jscpd', 'cmake-js']) {
    fs.writeFileSync(path.join(bin, name), '#!/bin/sh\nexit 0', { mode: 0o755 });
  }
  for (const name of ['package.json', 'scripts', 'dashboard', 'client']) {
    fs.cpSync(path.join(packageDir, name), path.join(dir, name), { recursive: true });
  }
  fs.symlinkSync(path.join(packageDir, 'node_modules'), path.join(dir, 'node_modules'));
  return dir;
}

test('the commands say which Node they need', async () => {
  for (const version of ['22.8.0', '20.20.2', '18.0.0', '8.17.0']) {
    const { status, stdout, stderr } = await runCli(['keys', 'list'], asNode(version));
    assert.deepEqual([status, stdout], [1, '']);
    assert.equal(oneSentence.exec(stderr)?.[1], version, stderr);
  }
  for (const version of ['22.9.0', '24.0.0', '100.0.0']) {
    const { status, stderr } = await runCli(['--version'], asNode(version));
    assert.deepEqual([status, stderr], [0, '']);
  }
});

test('the oldest Node is the same everywhere', () => {
  assert.match(read('package.json').engines.node, /^\^22\.9\.0 /);
  const { optionalDependencies } = read('scripts/setup/node/package.json');
  for (const [name, version] of Object.entries(optionalDependencies)) {
    assert.match(String(version), /^22\.(9|[1-9]\d)\.\d+$/, name);
  }
});

/** Others only start npm scripts, which report it. */
const scripts = ['.', 'client', 'dashboard'].flatMap((folder) =>
  Object.entries<string>(read(`${folder}/package.json`).scripts)
    .filter(([, command]) => !command.split(' && ').every((part) => part.startsWith('npm ')))
    .map(([name, command]) => ({ what: `npm run ${name} in ${folder}`, folder, command })),
);
const programs = ['scripts', 'scripts/container', 'dashboard'].flatMap((folder) =>
  fs
    .readdirSync(path.join(packageDir, folder))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => ({ what: `${folder}/${name}`, folder: '.', command: `node ${folder}/${name}` })),
);

test('every script says which Node it needs', (context) => {
  const dir = clone(context);
  const env = { PATH: `${path.join(dir, 'bin')}:/bin`, ...asNode('20.20.2') };
  assert.ok(scripts.length > 10 && programs.length > 10);
  for (const { what, folder, command } of [...scripts, ...programs]) {
    const cwd = path.join(dir, folder);
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd, env, encoding: 'utf8' });
    assert.equal(status, 1, `${what}: ${stderr}`);
    assert.match(stderr, oneSentence, what);
  }
});
