// SPDX-License-Identifier: Apache-2.0
//
// The Python client: its own tests (clients/python/tests), its types, and its packages, installed where nothing else is.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from '../support/cli.js';
import { clientSources, python, withoutPython } from '../support/python.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const clientDir = path.join(packageDir, 'clients/python');

/** Fails with the program's output. */
async function run(program: string, args: readonly string[], cwd = clientDir): Promise<string> {
  const env = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
  const options = { cwd, env, maxBuffer: 1 << 24 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    assert.fail(`$ ${program} ${args.join(' ')}\n${stdout}${stderr}`);
  }
}

test('it passes its tests', { skip: withoutPython }, async () => {
  const passed = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider']);
  assert.match(passed, /\b[1-9]\d* passed in /);
});

test('each method of the TypeScript client is one of the Python clients', () => {
  const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const ours = fs.readFileSync(path.join(packageDir, 'client/src/client.ts'), 'utf8');
  const methods = [...ours.matchAll(/^ {2}(?:async )?\*?([a-z]\w*)[(<]/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'constructor');
  assert.ok(methods.length > 15, methods.join(' '));
  for (const file of ['_async_client.py', '_sync_client.py']) {
    const theirs = fs.readFileSync(path.join(clientSources, 'veravox_client', file), 'utf8');
    for (const name of methods)
      assert.match(theirs, new RegExp(`^    (async )?def ${snakeCase(name)}\\(`, 'm'));
  }
});

const consumer = `
from typing import assert_type
from veravox_client import AsyncVeravoxClient, Prediction, VeravoxClient, VeravoxError

client = VeravoxClient("http://127.0.0.1:9", "k")
try:
    prediction = client.predict("call.wav", threshold=0.5, max_retries=1)
    assert_type(prediction, Prediction)
    assert_type(prediction["global"]["score"], float)
    prediction["globul"]  # type: ignore[typeddict-item]
    prediction["global"]["result"] == "fake"  # type: ignore[comparison-overlap]
except VeravoxError as error:
    error.code == "rate_limitd"  # type: ignore[comparison-overlap]
client.predict("call.wav", treshold=0.5)  # type: ignore[call-arg]
client.verify("call.wav")  # type: ignore[call-arg]
client.stream(sample_rate=16_000)  # type: ignore[call-arg]


async def ask(client: AsyncVeravoxClient) -> None:
    assert_type(await client.predict(b""), Prediction)
`;

const program = `
import asyncio, sys
from veravox_client import AsyncVeravoxClient, VeravoxClient
with VeravoxClient(*sys.argv[1:]) as client:
    print(client.predict(bytes(2000))["global"]["result"])
async def main():
    async with AsyncVeravoxClient(*sys.argv[1:]) as client:
        print((await client.predict(bytes(2000)))["global"]["result"])
asyncio.run(main())
`;

/** The packages, built as by `npm run pack:python`. */
async function packages(t: TestContext): Promise<{ folder: string; wheel: string; source: string }> {
  const folder = temporaryFolder(t);
  await run(python, ['-m', 'build', '--no-isolation', '--outdir', folder, clientDir]);
  const named = (ending: string): string =>
    fs.readdirSync(folder).find((name) => name.endsWith(ending)) ?? assert.fail(ending);
  return { folder, wheel: named('.whl'), source: named('.tar.gz') };
}

test('its packages hold the client alone, and a program that has installed one asks a server', {
  skip: withoutPython,
}, async (t) => {
  const { folder, wheel, source } = await packages(t);
  const { version } = JSON.parse(fs.readFileSync(path.join(packageDir, 'package.json'), 'utf8'));
  assert.deepEqual(
    [wheel, source],
    [`veravox_client-${version}-py3-none-any.whl`, `veravox_client-${version}.tar.gz`],
  );
  const files = fs
    .readdirSync(path.join(clientSources, 'veravox_client'))
    .filter((name) => /\.py$|^py\.typed$/.test(name));
  const listed = JSON.parse(
    await run(python, [
      '-c',
      'import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))',
      path.join(folder, wheel),
    ]),
  ) as string[];
  assert.deepEqual(
    listed.filter((name) => !name.includes('.dist-info/')).sort(),
    files.map((name) => `veravox_client/${name}`).sort(),
  );
  assert.ok(listed.some((name) => name.endsWith('/licenses/LICENSE')));
  const unpacked = (await run('tar', ['-tzf', path.join(folder, source)])).split('\n');
  for (const name of [
    'README.md',
    'LICENSE',
    'pyproject.toml',
    ...files.map((file) => `src/veravox_client/${file}`),
  ]) {
    assert.ok(unpacked.includes(`veravox_client-${version}/${name}`), name);
  }
  const { origin } = await startTestServer(t);
  for (const name of [wheel, source]) {
    const environment = path.join(folder, `for-${name}`);
    await run(python, ['-m', 'venv', environment]);
    const own = path.join(environment, 'bin/python');
    // The backend of the environment that runs these tests builds the source package.
    const built =
      name === source
        ? ['--no-build-isolation', '--no-deps', '--target', path.join(environment, 'built')]
        : [];
    const installer = name === source ? python : own;
    await run(installer, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--retries',
      '1',
      ...built,
      path.join(folder, name),
    ]);
    if (name === source) assert.ok(fs.existsSync(path.join(environment, 'built/veravox_client/py.typed')));
    else {
      assert.equal(await run(own, ['-c', program, origin, API_KEY], folder), 'spoofed\nspoofed\n');
      const live = await run(
        own,
        [
          '-c',
          `from veravox_client import VeravoxClient
try:
    VeravoxClient("${origin}", "k").stream(encoding="opus")
except ImportError as error:
    print(error)`,
        ],
        folder,
      );
      assert.match(live, /pip install 'veravox-client\[stream\]'/);
      fs.writeFileSync(path.join(folder, 'consumer.py'), consumer);
      await run(python, ['-m', 'mypy', '--strict', '--python-executable', own, 'consumer.py'], folder);
    }
  }
});

test('its types are strict', { skip: withoutPython }, async (t) => {
  await run(python, ['-m', 'mypy', '--cache-dir', temporaryFolder(t), 'src']);
});
