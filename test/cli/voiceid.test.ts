// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { loadAddon } from '../../src/base/addon/addon.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { averageSpectrum, writeTinyVoices } from '../support/speaker-models.js';
import { monoWav, repeated } from '../support/wav.js';

const short = 'test/fixtures/human-lj-b.flac';
const otherSpeaker = 'test/fixtures/human-vctk-p237.flac';

let enrolWav: Uint8Array;

before(() => {
  const { samples } = loadAddon().decode(fs.readFileSync('test/fixtures/human-lj-a.flac'));
  enrolWav = monoWav(repeated(samples, 12 * 16000), 16000);
});

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [['enroll'], /missing required argument 'file'/],
  [['enroll', short, '--id', ''], /Expected 1 to 512 bytes but received 0/],
  [['enroll', ...Array<string>(11).fill(short)], /at most 10 recordings but received 11/],
  [['verify', short], /required option '--vector <file>' not specified/],
  [['identify', short], /required option '--voiceprints <file>' not specified/],
  [['identify', short, '--voiceprints', short, '--top', '0'], /a whole number from 1 to 100/],
  [['identify', short, '--voiceprints', short, '--prior', '2'], /a number from 0 to 1/],
];
for (const [args, message] of misuses) {
  test(`veravox ${args.slice(0, 6).join(' ')} is a usage error`, async () => {
    const { status, stdout, stderr } = await runCli(args);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('enroll prints a voiceprint that verify takes; another speaker is exit code 3, a failure is 1', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { VERAVOX_MODELS_DIR: writeTinyVoices(folder) };
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
  assert.equal(enrolled.stderr, '');
  const piped = await runCli(['enroll', '-'], settings, { input: enrolWav });
  assert.equal(piped.stdout, enrolled.stdout, piped.stderr);
  const nothing = await runCli(['verify', '-', '--vector', vector], settings, { input: new Uint8Array() });
  assert.equal(nothing.status, 1);
  assert.match(nothing.stderr, /^-: /);
  const same = await verify(short);
  assert.equal(same.status, 0, same.stderr);
  assert.match(
    same.stdout,
    /^test\/fixtures\/human-lj-b\.flac .* the same speaker {2}\(cosine 0\.\d{3}, average-spectrum\)\n$/,
  );

  // The whole answer is also accepted.
  fs.writeFileSync(inFolder('cut.wav'), enrolWav.subarray(0, enrolWav.length * 0.9));
  const cut = await runCli(['enroll', '--json', inFolder('cut.wav')], settings);
  assert.match(cut.stderr, /^Warning: .*cut\.wav: Audio is missing: the file states a length of 12 s, .*\n$/);
  assert.equal(JSON.parse(cut.stdout).model_version, 'average-spectrum');
  fs.writeFileSync(vector, cut.stdout);
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

  const suspicious = writeTinyVoices(temporaryFolder(t), [averageSpectrum()], 30);
  const fake = await runCli(['verify', short, '--vector', vector, '--json'], {
    VERAVOX_MODELS_DIR: suspicious,
  });
  assert.equal(fake.status, 4, 'neither a failure nor another speaker');
  assert.match(fake.stderr, /AI-generated with a confidence of \d+\.\d%/);
  assert.equal(JSON.parse(fake.stdout).message.type, 'forbidden_error');

  fs.writeFileSync(vector, '[1, 2]');
  const badVector = await verify(short, '--json');
  assert.equal(badVector.status, 1);
  assert.match(JSON.parse(badVector.stdout).message, /voice_vector but received an array of length 2/);
  fs.rmSync(vector);
  const noVector = await verify(short);
  assert.equal(noVector.status, 1);
  assert.match(noVector.stderr, /no such file or folder: .*me\.json\./);
});

test('several samples make one voiceprint, with feedback on each, and identify finds it in a list', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { VERAVOX_MODELS_DIR: writeTinyVoices(folder) };
  const inFolder = (name: string) => path.join(folder, name);
  fs.writeFileSync(inFolder('me.wav'), enrolWav);
  fs.writeFileSync(inFolder('short.wav'), monoWav(new Float32Array(8000), 16000));
  const joined = await runCli(
    ['enroll', '--json', inFolder('me.wav'), short, inFolder('short.wav')],
    settings,
  );
  assert.equal(joined.status, 0, joined.stderr);
  const { embedding, samples } = JSON.parse(joined.stdout);
  assert.deepEqual(
    samples.map(({ reason }: { reason: string | null }) => reason),
    [null, null, 'too_short'],
  );
  assert.match(joined.stderr, /me\.wav: accepted, \d+\.\d s of speech, agreement 0\.\d\d\n/);
  assert.match(joined.stderr, /short\.wav: left out: too short\n/);
  assert.match(joined.stderr, /\nQuality: (fair|poor) \(.*few samples/);
  const { stdout: line, stderr: why } = await runCli(['enroll', '--id', 'me', inFolder('me.wav')], settings);
  const alone = JSON.parse(line);
  assert.equal(alone.id, 'me', why);
  // Weighted by speech, so it equals neither of the two.
  assert.notDeepEqual(embedding, alone.embedding);

  const others = JSON.parse(
    (await runCli(['enroll', '--json', otherSpeaker, otherSpeaker], settings)).stdout,
  );
  const list = inFolder('list.json');
  fs.writeFileSync(
    list,
    JSON.stringify([
      { id: 'p237', embedding: others.embedding },
      { id: 'lj', embedding },
    ]),
  );
  const identify = (file: string, ...more: string[]) =>
    runCli(['identify', file, '--voiceprints', list, ...more], settings);
  const found = await identify(short, '--json');
  assert.equal(found.status, 0, found.stderr);
  const answer = JSON.parse(found.stdout);
  assert.deepEqual([answer.matches[0].id, answer.matches[0].is_match, answer.compared], ['lj', true, 2]);
  const one = await identify(short, '--top', '1', '--prior', '0.9');
  assert.match(one.stdout, /^id .*match\nlj +\d\.\d{3} .* yes\n2 compared; nobody of them: 0\.\d{3}\n$/);
  fs.writeFileSync(list, JSON.stringify([{ id: 'p237', embedding: others.embedding }]));
  const nobody = await identify(short);
  assert.equal(nobody.status, 3, nobody.stdout);
  // Lines of enroll --id are a list as they are, and so is one object over several lines.
  const voiceprint = { id: 'p "237"', embedding: others.embedding };
  const other = JSON.stringify({ ...voiceprint, id: 'p237' });
  fs.writeFileSync(list, `${JSON.stringify(voiceprint, null, 2)}\r\n\r\n${other}\n${line}`);
  const listed = await identify(short, '--json');
  assert.equal(listed.status, 0, listed.stderr);
  const { matches, compared } = JSON.parse(listed.stdout);
  assert.deepEqual([matches[0].id, compared], ['me', 3]);
  fs.writeFileSync(list, '[{"id": "a", "embedding": [1]}]');
  const bad = await identify(short, '--json');
  assert.equal(bad.status, 1);
  assert.match(JSON.parse(bad.stdout).message, /voiceprints/);
  const missing = await runCli(['enroll', inFolder('me.wav'), inFolder('none.wav')], settings);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /none\.wav: There is no such file or folder\.\n/);
});

test('without a speaker model both say so', async (t) => {
  const settings = { VERAVOX_MODELS_DIR: writeTinyVoices(temporaryFolder(t), []) };
  for (const args of [
    ['enroll', short],
    ['verify', short, '--vector', short],
  ]) {
    const { status, stderr } = await runCli(args, settings);
    assert.equal(status, 1);
    assert.match(stderr, /needs a speaker model, and this server has none/);
  }
});
