// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { runCli, temporaryFolder } from '../support/cli.js';
import { tinyEntry, writeManifest } from '../support/tiny-models.js';

const speech = 'test/fixtures/human-lj-a.flac';
const mp3 = 'test/fixtures/human-lj-a.mp3';

let tiny: { readonly VERAVOX_MODELS_DIR: string };
before(() => {
  tiny = { VERAVOX_MODELS_DIR: fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-predict-')) };
  const entry = tinyEntry(tiny.VERAVOX_MODELS_DIR, 'tiny', 'even');
  // Only the model that is used is loaded.
  writeManifest(tiny.VERAVOX_MODELS_DIR, [entry, { ...entry, id: 'other', file: 'missing.onnx' }]);
});
after(() => fs.rmSync(tiny.VERAVOX_MODELS_DIR, { recursive: true }));

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [['predict'], /missing required argument 'file'/],
  [
    ['predict', speech, '--threshold', '1.5'],
    /a number from 0 to 1 or the name of an operating point but received 1\.5/,
  ],
  [['predict', speech, '--silence-threshold', ''], /a number from 0 to 100 but received/],
  [['predict', speech, '--threshold', 'Strict'], /operating point but received Strict/],
  [['predict', speech, '--jsn'], /unknown option '--jsn'/],
  [['predict', speech, '--start', '-1'], /a number of seconds from 0 on but received -1/],
  [['predict', speech, '--start', '3', '--end', '2'], /after --start, which is 3, for --end but received 2/],
  [['predict', speech, '--html', 'a.html', '--end', '2'], /either --html, .*, or --start and --end/],
  [['predict', speech, '--channels', 'left'], /Allowed choices are mixed, separate/],
];
for (const [args, message] of misuses) {
  test(`veravox ${args.join(' ')} is a usage error`, async () => {
    const { status, stdout, stderr } = await runCli(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('files that cannot be analysed are named, the others are analysed, and the exit code is 1', async (context) => {
  const folder = path.join(temporaryFolder(context), 'no-audio');
  fs.mkdirSync(folder);
  const empty = path.join(folder, '..', 'empty.wav');
  fs.writeFileSync(empty, '');
  const { status, stdout, stderr } = await runCli([
    'predict',
    'missing.wav',
    'package.json',
    empty,
    folder,
    speech,
  ]);
  assert.equal(status, 1);
  const complaints = stderr.trimEnd().split('\n');
  assert.equal(complaints.length, 4, stderr);
  assert.match(complaints[0] ?? '', /^missing\.wav: There is no such file or folder\.$/);
  assert.match(
    complaints[1] ?? '',
    /^package\.json: The file is not in a supported format: it looks like JSON\. /,
  );
  assert.match(complaints[2] ?? '', /empty\.wav: /);
  assert.match(
    complaints[3] ?? '',
    /no-audio: This folder has no audio or video files, by their extensions: aac, /,
  );
  assert.match(stdout, /^test\/fixtures\/human-lj-a\.flac {2}(bonafide|spoofed)/);
});

test('--json prints one object per file, in order, errors in the shape of the contract', async () => {
  const args = ['predict', '--json', '--threshold', '0', speech, 'package.json', mp3];
  const { status, stdout } = await runCli(args, tiny);
  assert.equal(status, 1);
  const [first, refused, last, ...more] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(more, []);
  assert.deepEqual(Object.keys(first), [
    'file',
    'model_id',
    'prediction_id',
    'global',
    'segments',
    'model',
    'processing_time',
    'audio_duration',
    'warnings',
  ]);
  assert.match(first.prediction_id, /^pred_[0-9a-f]{12}$/);
  assert.equal(first.global.result, 'spoofed', 'every score reaches a threshold of 0');
  assert.equal(first.segments[0].start, 0);
  assert.equal(first.segments.at(-1).end, first.audio_duration);
  assert.equal(refused.error, 'unsupported_format');
  assert.equal(refused.status, 422);
  assert.deepEqual([first.file, refused.file, last.file], [speech, 'package.json', mp3]);
  assert.ok(Math.abs(last.audio_duration - first.audio_duration) < 0.1, 'the same recording as MP3');
});

test('colours are for terminals only, and can be forced', async () => {
  const escapeCharacter = String.fromCharCode(27);
  const plain = await runCli(['predict', speech], tiny);
  assert.equal(plain.status, 0);
  assert.equal(plain.stderr, '');
  assert.ok(!plain.stdout.includes(escapeCharacter));
  const forced = await runCli(['predict', speech], { ...tiny, FORCE_COLOR: '1' });
  assert.ok(forced.stdout.includes(escapeCharacter));
});

test('--fail-on makes a result an exit code of its own, and a failure stays a failure', async () => {
  const run = async (...args: string[]): Promise<number | null> =>
    (await runCli(['predict', speech, '--fail-on', 'spoofed', ...args], tiny)).status;
  assert.equal(await run('--threshold', '0'), 4, 'every score reaches a threshold of 0');
  assert.equal(await run('--threshold', '1'), 0);
  assert.equal(await run('--threshold', '0', 'package.json'), 1);
});
