// SPDX-License-Identifier: Apache-2.0
//
// The npm packages as users get them, with the addon that brings FFmpeg along: its libraries, its answers, the room it takes and the
// time to the first prediction. Builds FFmpeg the first time. Writes bench/results/npm-packages.json.
//
//   npm run bench npm-packages
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { describeMachine } from '../../bench/support/machine.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli } from '../support/cli.js';
import { install, npx, packForNpm, serve } from '../support/installed-package.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Of the system's, as Node itself needs them. */
const systemLibraries = /^(libstdc\+\+|libgcc_s|libc|libm|libpthread|ld-linux[\w-]*)\.so/;
const mostMb = 60;

const { ensurePortableBuild } = (await import(
  path.join(packageDir, 'scripts/packages/platform-package.mjs')
)) as { ensurePortableBuild(): Promise<string> };

/** The room of a folder on the disk. */
const diskMb = (folder: string): number =>
  Number(execFileSync('du', ['--summarize', '--block-size=1', folder], { encoding: 'utf8' }).split('\t')[0]) /
  1e6;

test('the package brings its own FFmpeg, gives the clone’s answers, and is small', async (t) => {
  const installation = await install(t, await packForNpm(temporaryFolder(t), await ensurePortableBuild()));
  const modules = path.join(installation.folder, 'node_modules');
  const platform = path.join(modules, `@veravox/${process.platform}-${process.arch}`);
  for (const name of fs.readdirSync(platform).filter((file) => /\.node$|\.so\./.test(file))) {
    const dynamic = execFileSync('readelf', ['--dynamic', path.join(platform, name)], { encoding: 'utf8' });
    assert.match(dynamic, /FLAGS.*\bNOW\b/, `${name} is hardened like the addon`);
    const needs = [...dynamic.matchAll(/NEEDED.*\[(.*)\]/g)].map(([, library = '']) => library);
    for (const library of needs)
      assert.ok(systemLibraries.test(library) || fs.existsSync(path.join(platform, library)), library);
  }

  const fixtures = fs
    .readdirSync(path.join(packageDir, 'test/fixtures'))
    .filter((name) => !name.endsWith('.md'))
    .map((name) => path.join(packageDir, 'test/fixtures', name));
  const answers = (output: string): unknown[] =>
    output
      .trim()
      .split('\n')
      .map((line) => {
        const { global, segments } = JSON.parse(line) as Record<string, unknown>;
        return { global, segments };
      });
  const settings = { VERAVOX_DATA_DIR: path.join(temporaryFolder(t), 'data') };
  const own = answers((await runCli(['predict', '--json', ...fixtures], settings)).stdout);
  assert.equal(own.length, fixtures.length);
  assert.deepEqual(answers(await npx(installation, 'predict', '--json', ...fixtures)), own);
  assert.match(await npx(installation, 'doctor'), /addon/);

  const startedMs = performance.now();
  const { origin, apiKey } = await serve(t, installation, {});
  const form = new FormData();
  form.set('file', await fs.openAsBlob(fixtures[0] ?? ''), 'recording');
  const answer = await fetch(`${origin}/v1/predict`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: form,
  });
  assert.equal(answer.status, 200);
  const firstPredictionMs = Math.round(performance.now() - startedMs);

  const sizes = Object.fromEntries(
    fs
      .readdirSync(modules, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => [name, Number(diskMb(path.join(modules, name)).toFixed(1))] as const)
      .sort(([, a], [, b]) => b - a),
  );
  const { 'onnxruntime-node': onnxruntime = 0 } = sizes;
  const besideMb = Number((diskMb(modules) - onnxruntime).toFixed(1));
  const largest = Object.fromEntries(Object.entries(sizes).slice(0, 10));
  const result = { machine: describeMachine(), besideMb, largest, firstPredictionMs };
  const json = `${JSON.stringify(result, undefined, 2)}\n`;
  process.stdout.write(json);
  fs.writeFileSync(path.join(packageDir, 'bench/results/npm-packages.json'), json);
  assert.ok(besideMb <= mostMb, `${besideMb} MB beside onnxruntime-node`);
});
