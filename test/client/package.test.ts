// SPDX-License-Identifier: Apache-2.0
//
// The published client: packed by npm, installed where nothing else is.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { clientTypes } from '../../scripts/docs/client-types.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/cli.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const run = promisify(execFile);
const clientDir = path.join(packageDir, 'client');

const consumer = `
import { VeravoxClient, VeravoxError, type Prediction } from 'veravox-client';
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

const program = `
import { VeravoxClient } from 'veravox-client';
const [baseUrl, apiKey] = process.argv.slice(2);
const { global } = await new VeravoxClient({ baseUrl, apiKey }).predict(new Blob([new Uint8Array(2000)]));
console.log(global.result);
`;

const packageFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-client-package-'));
const project = path.join(packageFolder, 'project');
let packed = '';

before(async () => {
  const options = {
    cwd: packageDir,
    env: { ...process.env, npm_config_cache: path.join(packageFolder, 'cache') },
  };
  await run('npm', ['run', 'pack:client', '--', '--pack-destination', packageFolder], options);
  const name = fs.readdirSync(packageFolder).find((file) => file.endsWith('.tgz'));
  assert.ok(name !== undefined);
  packed = path.join(packageFolder, name);
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, 'package.json'), '{"type":"module"}');
  const install = ['install', '--offline', '--no-audit', '--no-fund', packed];
  await run('npm', install, { ...options, cwd: project });
});
after(() => fs.rmSync(packageFolder, { recursive: true }));

/** A copy of a project that has installed the package, without a registry and with an empty cache. */
function consumerFolder(test: TestContext): string {
  const folder = temporaryFolder(test);
  fs.cpSync(project, folder, { recursive: true });
  return folder;
}

test('the types of the client are what npm run docs would write', async () => {
  assert.equal(fs.readFileSync(path.join(clientDir, 'src/types.ts'), 'utf8'), await clientTypes());
});

test('its README links to nothing outside of the package', (t) => {
  const folder = path.join(consumerFolder(t), 'node_modules/veravox-client');
  const readme = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  const targets = [...readme.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) => target);
  const dead = targets.filter(
    (target) => !/^https?:/.test(target) && !fs.existsSync(path.join(folder, target)),
  );
  assert.deepEqual(dead, []);
});

test('the package holds the client alone and needs nothing but what is built in', (t) => {
  const folder = consumerFolder(t);
  assert.deepEqual(
    fs.readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['veravox-client'],
  );
  const installed = path.join(folder, 'node_modules/veravox-client');
  assert.deepEqual(fs.readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const manifest = JSON.parse(fs.readFileSync(path.join(installed, 'package.json'), 'utf8'));
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    assert.equal(manifest[kind], undefined);
  const files = fs.readdirSync(path.join(installed, 'dist')).filter((name) => /\.(js|d\.ts)$/.test(name));
  assert.ok(files.includes('index.js') && files.includes('index.d.ts'));
  for (const name of files) {
    const text = fs.readFileSync(path.join(installed, 'dist', name), 'utf8');
    const imported = [...text.matchAll(/(?:from|import) *\(?'([^']+)'/g)].map(([, from]) => String(from));
    for (const from of imported) assert.match(from, /^\.\/[a-z-]+\.js$/, name);
  }
});

test('publint and Are the Types Wrong find nothing', async () => {
  const bin = (name: string): string => path.join(packageDir, 'node_modules/.bin', name);
  await run(bin('publint'), ['run', packed, '--strict']);
  await run(bin('attw'), [packed, '--profile', 'esm-only', '--no-definitely-typed']);
});

test('a program that has installed it talks to a server', async (t) => {
  const [folder, { origin }] = [consumerFolder(t), await startTestServer(t)];
  fs.writeFileSync(path.join(folder, 'program.js'), program);
  const { stdout } = await run(process.execPath, ['program.js', origin, API_KEY], { cwd: folder });
  assert.equal(stdout, 'spoofed\n');
});

for (const [name, libraries] of [
  ['Node', ['--lib', 'es2023', '--types', 'node']],
  ['a browser', ['--lib', 'es2023,dom,dom.asynciterable', '--types', '']],
] as const) {
  test(`a program for ${name} is checked against its types`, async (t) => {
    const folder = consumerFolder(t);
    fs.symlinkSync(path.join(packageDir, 'node_modules/@types'), path.join(folder, 'node_modules/@types'));
    fs.writeFileSync(path.join(folder, 'consumer.ts'), consumer);
    const tsc = path.join(packageDir, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const options = ['--module', 'nodenext', '--target', 'es2023', ...strict, ...libraries];
    await run(process.execPath, [tsc, ...options, 'consumer.ts'], { cwd: folder });
  });
}
