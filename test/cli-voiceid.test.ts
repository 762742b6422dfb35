// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { loadAddon } from '../src/base/addon/addon.js';
import { runCli, temporaryFolder } from './support/cli.js';
import { averageSpectrum, writeModels } from './support/speaker-models.js';
import { monoWav, repeated } from './support/wav.js';

const short = 'test/fixtures/human-lj-b.flac';
// What the shipped detector says does not matter here: with these it always says the same.
const humanBias = -30;
const generatedBias = 30;
const otherSpeaker = 'test/fixtures/human-vctk-p237.flac';

let enrolWav: Uint8Array;

before(() => {
  const { samples } = loadAddon().decode(fs.readFileSync('test/fixtures/human-lj-a.flac'));
  enrolWav = monoWav(repeated(samples, 12 * 16000), 16000);
});

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [['enroll'], /missing required argument 'file'/],
  [['enroll', short, short], /too many arguments/],
  [['verify', short], /required option '--vector <file>' not specified/],
];
for (const [args, message] of misuses) {
  test(`veravox ${args.join(' ')} is a usage error`, async () => {
    const { status, stdout, stderr } = await runCli(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('enroll prints a voiceprint that verify takes; another speaker is exit code 3, a failure is 1', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { VERAVOX_MODELS_DIR: writeModels(folder, [averageSpectrum()], humanBias) };
  const inFolder = (name: string) => path.join(folder, name);
  fs.writeFileSync(inFolder('me.wav'), enrolWav);
  const vector = inFolder('me.json');
  const verify = (file: string, ...more: string[]) =>
    runCli(['verify', file, '--vector', vector, ...more], settings);

  const tooShort = await runCli(['enroll', short], settings);
  assert.equal(tooShort.status, 1);
  assert.equal(tooShort.stdout, '');
  assert.match(tooShort.stderr, /human-lj-b\.flac: The audio is 5\.533 s long; at least 10 s are required/);

  const enrolled = await runCli(['enroll', inFolder('me.wav')], settings);
  assert.equal(enrolled.status, 0, enrolled.stderr);
  assert.equal(JSON.parse(enrolled.stdout).length, 256);
  fs.writeFileSync(vector, enrolled.stdout);
  const piped = await runCli(['enroll', '-'], settings, { input: enrolWav });
  assert.equal(piped.stdout, enrolled.stdout, piped.stderr);
  const pipedSample = ['verify', '-', '--vector', vector];
  assert.equal((await runCli(pipedSample, settings, { input: fs.readFileSync(short) })).status, 0);
  const nothing = await runCli(pipedSample, settings, { input: new Uint8Array() });
  assert.equal(nothing.status, 1);
  assert.match(nothing.stderr, /^-: /);
  const same = await verify(short);
  assert.equal(same.status, 0, same.stderr);
  assert.match(
    same.stdout,
    /^test\/fixtures\/human-lj-b\.flac .* the same speaker {2}\(cosine 0\.\d{3}, average-spectrum\)\n$/,
  );
  const other = await verify(otherSpeaker, '--json');
  assert.equal(other.status, 3, other.stderr);
  assert.deepEqual(Object.keys(JSON.parse(other.stdout)), [
    'is_match',
    'similarity_score',
    'confidence_score',
    'processing_time',
    'model_version',
    'deepfake_score',
  ]);
  assert.equal(JSON.parse(other.stdout).is_match, false);

  // The whole answer is taken, too.
  const answer = await runCli(['enroll', '--json', inFolder('me.wav')], settings);
  assert.equal(JSON.parse(answer.stdout).model_version, 'average-spectrum');
  fs.writeFileSync(vector, answer.stdout);
  assert.equal((await verify(short)).status, 0);

  const suspicious = writeModels(temporaryFolder(t), [averageSpectrum()], generatedBias);
  const fake = await runCli(['verify', short, '--vector', vector, '--json'], {
    VERAVOX_MODELS_DIR: suspicious,
  });
  assert.equal(fake.status, 1);
  assert.match(fake.stderr, /AI-generated with a confidence of \d+\.\d%/);
  assert.equal(JSON.parse(fake.stdout).message.type, 'forbidden_error');

  fs.writeFileSync(vector, '[1, 2]');
  const badVector = await verify(short, '--json');
  assert.equal(badVector.status, 1);
  assert.match(JSON.parse(badVector.stdout).message, /voice_vector but received an array of length 2/);
  fs.rmSync(vector);
  const noVector = await verify(short);
  assert.equal(noVector.status, 1);
  assert.match(noVector.stderr, /ENOENT/);
});

test('without a speaker model both say so', async (t) => {
  const settings = { VERAVOX_MODELS_DIR: writeModels(temporaryFolder(t), []) };
  for (const args of [
    ['enroll', short],
    ['verify', short, '--vector', short],
  ]) {
    const { status, stderr } = await runCli(args, settings);
    assert.equal(status, 1);
    assert.match(stderr, /needs a speaker model, and this server has none/);
  }
});
