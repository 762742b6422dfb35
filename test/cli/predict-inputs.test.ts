// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { runCli, temporaryFolder } from '../support/cli.js';
import { writeTinyModels } from '../support/tiny-models.js';

const speech = 'test/fixtures/human-lj-a.mp3';
const fast = 'detector-small-2026-11-25';
const short = 'test/fixtures/human-vctk-p237.flac';

let tiny: { readonly VERAVOX_MODELS_DIR: string };
before(() => {
  tiny = { VERAVOX_MODELS_DIR: fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-inputs-')) };
  writeTinyModels(tiny.VERAVOX_MODELS_DIR, 'even');
});
after(() => fs.rmSync(tiny.VERAVOX_MODELS_DIR, { recursive: true }));

/** A folder with recordings at several depths, and other files. */
function recordings(context: TestContext): string {
  const folder = temporaryFolder(context);
  fs.mkdirSync(path.join(folder, 'b/deep'), { recursive: true });
  fs.copyFileSync(speech, path.join(folder, 'z.mp3'));
  fs.copyFileSync(short, path.join(folder, 'b/deep/a.FLAC'));
  fs.copyFileSync(short, path.join(folder, 'b/[1].flac'));
  fs.writeFileSync(path.join(folder, 'b/notes.txt'), 'not audio');
  fs.symlinkSync('..', path.join(folder, 'b/loop'));
  return folder;
}

const linesOf = (stdout: string): { file: string; error?: string; audio_duration?: number }[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a folder stands for the media files in it and below, each once and in order', async (context) => {
  const folder = recordings(context);
  const { status, stdout, stderr } = await runCli(
    ['predict', '--json', folder, path.join(folder, 'z.mp3')],
    tiny,
  );
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    linesOf(stdout).map(({ file }) => path.relative(folder, file)),
    ['b/[1].flac', 'b/deep/a.FLAC', 'z.mp3'],
  );
});

test('a quoted pattern stands for the files that it fits; a file that is called so comes first', async (context) => {
  const folder = recordings(context);
  const given = ['b/[1].flac', '**/*.mp3', '*.wav'].map((name) => path.join(folder, name));
  const { status, stdout, stderr } = await runCli(['predict', '--json', ...given], tiny);
  assert.equal(status, 1);
  assert.match(stderr, /\*\.wav: No file matches this pattern\./);
  assert.deepEqual(
    linesOf(stdout).map(({ file, error }) => [path.relative(folder, file), error]),
    [
      ['b/[1].flac', undefined],
      ['z.mp3', undefined],
      ['*.wav', 'validation_error'],
    ],
  );
});

test('- is standard input', async () => {
  const piped = await runCli(['predict', '--json', '-', speech], tiny, { input: fs.readFileSync(speech) });
  assert.equal(piped.status, 0, piped.stderr);
  const [input, file] = linesOf(piped.stdout);
  assert.deepEqual([input?.file, file?.file], ['-', speech]);
  assert.equal(input?.audio_duration, file?.audio_duration);
  const empty = await runCli(['predict', '-'], tiny);
  assert.equal(empty.status, 1);
  assert.match(empty.stderr, /^-: /);
});

test('answers come in the order of the files, whichever is analysed first, and a line sums them up', async (context) => {
  const folder = temporaryFolder(context);
  const names = Array.from({ length: 15 }, (_, i) => path.join(folder, `${String(i).padStart(2, '0')}.mp3`));
  // Every third file is much longer, and one cannot be read.
  const long = Buffer.concat(Array.from({ length: 8 }, () => fs.readFileSync(speech)));
  for (const [i, name] of names.entries()) {
    fs.writeFileSync(name, i === 7 ? 'not audio' : i % 3 === 0 ? long : fs.readFileSync(speech));
  }
  const { status, stdout, stderr } = await runCli(['predict', ...names], tiny);
  assert.equal(status, 1);
  assert.match(stderr, /^\S+07\.mp3: The file is not in a supported format/);
  const headings = stdout.split('\n').filter((line) => line.startsWith(folder));
  assert.deepEqual(
    headings.map((line) => line.split('  ')[0]),
    names.filter((_, i) => i !== 7),
  );
  assert.match(stdout, /\n15 files: \d+ spoofed, \d+ bonafide, 1 not analysed\n$/);
});

test('a long file is summed up by its windows with the highest scores; --windows shows all', async (context) => {
  const file = path.join(temporaryFolder(context), 'long.mp3');
  fs.writeFileSync(file, Buffer.concat(Array.from({ length: 16 }, () => fs.readFileSync(speech))));
  const [whole, summed] = await Promise.all([
    runCli(['predict', '--windows', file, '--model', fast]),
    runCli(['predict', file, '--model', fast]),
  ]);
  const rowsOf = (stdout: string) =>
    stdout.split('\n').filter((line) => / - .* {2}(bonafide|spoofed)$/.test(line));
  const all = rowsOf(whole.stdout);
  const shown = rowsOf(summed.stdout);
  assert.ok(all.length > 24, `${all.length} windows`);
  assert.match(
    summed.stdout,
    new RegExp(`\n  ${all.length} windows, \\d+ of them spoofed; the 5 with the highest`),
  );
  const scoreOf = (row: string): number => Number(/(\d\.\d{3}) {2}\w+$/.exec(row)?.[1]);
  const highest = all
    .map(scoreOf)
    .sort((a, b) => b - a)
    .slice(0, 5);
  assert.deepEqual(
    shown.map(scoreOf).sort((a, b) => b - a),
    highest,
  );
  assert.deepEqual(
    shown,
    all.filter((row) => shown.includes(row)),
    'in the order of time',
  );
});
