// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../src/config/package-dir.js';
import { clientTypes } from '../src/openapi/client-types.js';
import { temporaryFolder } from './support/cli.js';

const builtDir = path.join(packageDir, 'dist/client');

const consumer = `
import { VeravoxClient, VeravoxError, type Prediction } from 'veravox/client';
const client = new VeravoxClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' });
export const prediction: Promise<Prediction> = client.predict(new Blob([]), { threshold: 0.5 });
prediction.catch((error: unknown) => {
  if (error instanceof VeravoxError && error.code === 'rate_limited') console.log(error.retryAfterS?.toFixed());
});
export const result = prediction.then(({ global }) => global.result === 'spoofed');
// @ts-expect-error a misspelt field
void client.predict(new Blob([]), { treshold: 0.5 });
// @ts-expect-error no such result
export const other = prediction.then(({ global }) => global.result === 'fake');
// @ts-expect-error verify needs the embedding
void client.verify(new Blob([]));
`;

/** A project that depends on the package. */
function consumerFolder(test: TestContext): string {
  const folder = temporaryFolder(test);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  fs.symlinkSync(packageDir, path.join(folder, 'node_modules/veravox'));
  fs.symlinkSync(path.join(packageDir, 'node_modules/@types'), path.join(folder, 'node_modules/@types'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  fs.writeFileSync(path.join(folder, 'consumer.ts'), consumer);
  return folder;
}

function run(folder: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test('the types of the client are what npm run docs would write', () => {
  assert.equal(fs.readFileSync(path.join(packageDir, 'src/client/types.ts'), 'utf8'), clientTypes());
});

test('the client needs nothing but what is built in', () => {
  const files = fs.readdirSync(builtDir).filter((name) => /\.(js|d\.ts)$/.test(name));
  assert.ok(files.includes('index.js') && files.includes('index.d.ts'));
  for (const name of files) {
    const text = fs.readFileSync(path.join(builtDir, name), 'utf8');
    const imported = [...text.matchAll(/(?:from|import) *\(?'([^']+)'/g)].map(([, from]) => String(from));
    for (const from of imported) assert.match(from, /^\.\/[a-z-]+\.js$/, name);
  }
});

test('a program in another package imports it', (t) => {
  const folder = consumerFolder(t);
  const program = "import * as client from 'veravox/client'; console.log(Object.keys(client).sort().join());";
  assert.equal(run(folder, '--input-type=module', '--eval', program), 'VeravoxClient,VeravoxError\n');
});

for (const [name, libraries] of [
  ['Node', ['--lib', 'es2023', '--types', 'node']],
  ['a browser', ['--lib', 'es2023,dom,dom.asynciterable', '--types', '']],
] as const) {
  test(`a program for ${name} is checked against its types`, (t) => {
    const folder = consumerFolder(t);
    const tsc = path.join(packageDir, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const options = ['--module', 'nodenext', '--target', 'es2023', ...strict, ...libraries];
    run(folder, tsc, ...options, 'consumer.ts');
  });
}
