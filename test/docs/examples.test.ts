// SPDX-License-Identifier: Apache-2.0
//
// Follows the pages that show requests like a reader: their shell blocks run one after another, with curl and jq, against a
// whole server with the shipped models. A JSON block right after a shell block is the answer: the real one must have the
// same members and types, and the same values unless they depend on the model or the moment. The TypeScript and the Python of
// a page are one program each: both must compile under strict rules and print the same.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { VeravoxClient } from '../../client/src/index.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { RunningServer } from '../../src/service/server-options.js';
import { clientSources, python, withoutPython } from '../support/python.js';
import { API_KEY, testConfig } from '../support/test-server.js';
import { monoWav, repeated } from '../support/wav.js';
import { startWholeServer } from '../support/whole-server.js';

interface Example {
  readonly line: number;
  readonly script: string;
  readonly answer: string | undefined;
}

type Language = 'ts' | 'python';

const RATE_HZ = 16_000;
/** A shell block, and the JSON block right after it. */
const EXAMPLE = /^```sh\n([\s\S]*?)^```\n(?:\n```json\n([\s\S]*?)^```\n)?/gm;
/** An ellipsis at the end of a list: the answer has more of the kind. */
const MORE = '...';
const valuesThatVary = new Set([
  'correlation_id',
  'created_at',
  'detail',
  'id',
  'prediction_id',
  'predictions',
  'reason',
  'result',
  'ticket',
  'timestamp',
  'value',
]);

/** The pages with programs, and the fewest blocks of each. */
const programs = [
  // First: its webhook is valid for five minutes.
  ['docs/webhooks.md', 1],
  ['README.md', 1],
  ['docs/api.md', 6],
  ['docs/jobs.md', 1],
  ['docs/stream.md', 1],
] as const;

const run = promisify(execFile);
const tsc = path.join(packageDir, 'node_modules/typescript/bin/tsc');
let folder: string;
let server: RunningServer;

function examplesOf(page: string): Example[] {
  const text = fs.readFileSync(path.join(packageDir, page), 'utf8');
  return [...text.matchAll(EXAMPLE)]
    .map(({ 1: script = '', 2: answer, index }) => ({
      line: text.slice(0, index).split('\n').length,
      script,
      answer,
    }))
    .filter(({ script }) => script.includes('curl '));
}

const samplesOf = (fixture: string): Float32Array =>
  loadAddon().decode(fs.readFileSync(path.join(packageDir, 'test/fixtures', fixture))).samples;

/** The recordings that the pages mention. */
function writeRecordings(): void {
  const speech = samplesOf('human-lj-a.flac');
  const withPause = new Float32Array(10 * RATE_HZ);
  withPause.set(speech.subarray(0, 5 * RATE_HZ));
  const recordings = {
    'with-a-pause.wav': withPause,
    'meeting.wav': repeated(speech, 160 * RATE_HZ),
    'anna.wav': repeated(speech, 15 * RATE_HZ),
    'caller.wav': samplesOf('human-lj-b.flac'),
    'clone.wav': samplesOf('ai-kokoro.flac'),
  };
  for (const [name, samples] of Object.entries(recordings)) {
    fs.writeFileSync(path.join(folder, name), new Uint8Array(monoWav(samples, RATE_HZ)));
  }
  fs.copyFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.mp3'), path.join(folder, 'call.mp3'));
  fs.symlinkSync(path.join(packageDir, 'test'), path.join(folder, 'test'));
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-documentation-'));
  writeRecordings();
  const config = {
    ...testConfig,
    dataDir: path.join(folder, 'data'),
    modelsDir: path.join(packageDir, 'models'),
    maxLargeFileBytes: 100 << 20,
    maxInflightBytes: 256 << 20,
  };
  [server] = await Promise.all([startWholeServer(config), installTypeScriptClient()]);
});

after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Like a reader's shell after the first block of a page has set SERVER and KEY. */
async function answerTo(script: string): Promise<string> {
  const origin = `http://127.0.0.1:${server.port}`;
  const filledIn = script.replaceAll('http://127.0.0.1:8080', origin).replaceAll('vx_...', API_KEY);
  const env = { ...process.env, SERVER: origin, KEY: API_KEY };
  const { stdout } = await run('bash', ['-euc', filledIn.replaceAll(/\bcurl /g, 'curl -sS ')], {
    cwd: folder,
    env,
  });
  return stdout;
}

function assertAlike(real: unknown, shown: unknown, where: string, name = ''): void {
  if (valuesThatVary.has(name) && (real === null || shown === null)) return;
  assert.equal(kindOf(real), kindOf(shown), `${where} is ${JSON.stringify(real)}`);
  if (Array.isArray(shown) && Array.isArray(real)) {
    const goesOn = shown.at(-1) === MORE;
    const entries = goesOn ? shown.slice(0, -1) : shown;
    assert.ok(goesOn ? real.length > entries.length : real.length === entries.length, `length of ${where}`);
    entries.forEach((entry, i) => {
      assertAlike(real[i], entry, `${where}[${i}]`, name);
    });
  } else if (kindOf(shown) === 'object') {
    assert.deepEqual(Object.keys(real as object), Object.keys(shown as object), where);
    for (const [member, value] of Object.entries(shown as object)) {
      assertAlike((real as Record<string, unknown>)[member], value, `${where}.${member}`, member);
    }
  } else if (kindOf(shown) === 'string' && !valuesThatVary.has(name)) {
    assert.equal(real, shown, where);
  } else if (judgements.has(name)) {
    assert.ok(Math.abs(Number(real) - Number(shown)) < 0.002, `${where} is ${real}, not ${shown}`);
  }
}

/** Processors differ in their last digits; other detectors and calibrations differ by more. */
const judgements = new Set(['score', 'scores', 'confidence']);

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

function programOf(page: string, language: Language): string[] {
  const text = fs.readFileSync(path.join(packageDir, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
    .map(([, block = '']) => block)
    .filter((block) => /veravox|client/.test(block));
}

/** A webhook, signed by openssl. */
function someWebhook() {
  const key = Buffer.alloc(32, 7);
  const body = '{"type":"job.succeeded","timestamp":"2026-11-22T10:00:00.000Z","data":{"id":"0b5c2f6e"}}';
  const sentAt = String(Math.floor(Date.now() / 1000));
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key.toString('hex')}`, '-binary'];
  const signature = execFileSync('openssl', args, { input: `msg.${sentAt}.${body}` }).toString('base64');
  const headers = {
    'webhook-id': 'msg',
    'webhook-timestamp': sentAt,
    'webhook-signature': `v1,${signature}`,
  };
  return { body, headers, secrets: [`whsec_${key.toString('base64')}`] };
}

/** The values that a page takes as given. */
function preambleOf(page: string, language: Language): string {
  if (page === 'docs/webhooks.md') {
    const given = JSON.stringify(someWebhook());
    return language === 'ts'
      ? `const { body, headers, secrets } = ${given};\n`
      : `given: dict[str, Any] = ${given}\nbody, headers, secrets = given["body"], given["headers"], given["secrets"]\n`;
  }
  return page === 'README.md' || page === 'docs/api.md' ? '' : String(programOf('docs/api.md', language)[0]);
}

const nameOf = (page: string): string => page.replaceAll(/\W/g, '_');

function sourceOf(page: string, language: Language): string {
  return [preambleOf(page, language), ...programOf(page, language)]
    .join('')
    .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`)
    .replaceAll('vx_...', API_KEY);
}

const runInFolder = (program: string, args: readonly string[]) =>
  run(program, args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: clientSources, MYPYPATH: clientSources },
  });

/** Fails if a program breaks the strict rules of its language. */
async function compilePrograms(): Promise<void> {
  const names = programs.map(([page]) => nameOf(page));
  for (const [page] of programs) {
    fs.writeFileSync(path.join(folder, `${nameOf(page)}.mts`), sourceOf(page, 'ts'));
    const text = `from typing import Any\n${sourceOf(page, 'python')}`;
    fs.writeFileSync(path.join(folder, `${nameOf(page)}.py`), text);
  }
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--module', 'nodenext', '--target', 'es2023'];
  const types = ['--lib', 'es2023', '--types', 'node'];
  await runInFolder(process.execPath, [tsc, ...strict, ...types, ...names.map((name) => `${name}.mts`)]);
  if (withoutPython) return;
  await runInFolder(python, ['-m', 'mypy', '--strict', ...names.map((name) => `${name}.py`)]);
}

/** The client as programs install it. */
async function installTypeScriptClient(): Promise<void> {
  const modules = path.join(folder, 'node_modules');
  const installed = path.join(modules, 'veravox-client');
  fs.mkdirSync(installed, { recursive: true });
  fs.symlinkSync(path.join(packageDir, 'node_modules/@types'), path.join(modules, '@types'));
  fs.copyFileSync(path.join(packageDir, 'client/package.json'), path.join(installed, 'package.json'));
  const project = path.join(packageDir, 'client/tsconfig.json');
  await run(process.execPath, [tsc, '-p', project, '--outDir', path.join(installed, 'dist')]);
}

test('the links of the API page lead to a file that the reader has sent', async () => {
  const client = new VeravoxClient({ baseUrl: `http://127.0.0.1:${server.port}`, apiKey: API_KEY });
  const [link] = (await client.createUploadLinks(['call-17.mp3'])).url;
  assert.ok(link);
  await client.upload(link, fs.readFileSync(path.join(folder, 'call.mp3')));
});

for (const [page, atLeast] of [
  ['README.md', 1],
  ['docs/api.md', 10],
  ['docs/jobs.md', 2],
  ['docs/stream.md', 1],
  ['docs/batches.md', 1],
] as const) {
  const examples = examplesOf(page);

  test(`${page} shows requests with their answers`, () => {
    assert.ok(examples.filter(({ answer }) => answer !== undefined).length >= atLeast);
  });

  for (const { line, script, answer } of examples) {
    test(`the request in ${page}:${line} works as shown`, async () => {
      const real = await answerTo(script);
      if (answer === undefined) return;
      const shown = JSON.parse(answer.replaceAll(/,\s*\.\.\.(?=\s*\])/g, `, "${MORE}"`));
      assertAlike(JSON.parse(real), shown, 'the answer');
    });
  }
}

describe('programs', () => {
  before(compilePrograms);

  for (const [page, atLeast] of programs) {
    test(`the TypeScript and the Python of ${page} do the same`, async (t) => {
      assert.ok(programOf(page, 'ts').length >= atLeast);
      assert.equal(programOf(page, 'python').length, programOf(page, 'ts').length);
      const { stdout: printed } = await runInFolder(process.execPath, [`${nameOf(page)}.mjs`]);
      assert.match(printed, /\w \S/);
      if (withoutPython) t.skip(withoutPython);
      else assert.equal((await runInFolder(python, [`${nameOf(page)}.py`])).stdout, printed);
    });
  }
});
