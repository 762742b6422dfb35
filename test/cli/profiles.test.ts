// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadAddon } from '../../src/base/addon/addon.js';
import { withDatabase } from '../../src/state/database/open-database.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { sqliteIn } from '../support/stored-keys.js';
import { monoWav } from '../support/wav.js';

const fast = 'detector-small-2026-11-25';
const human = 'test/fixtures/human-lj-a.flac';

/** Cuts of a recording, as a channel. */
function cutsOf(folder: string, file: string, count: number): string[] {
  const { samples, sampleRateHz } = loadAddon().decode(fs.readFileSync(file));
  return Array.from({ length: count }, (_, i) => {
    const cut = path.join(folder, `${path.parse(file).name}-${i}.wav`);
    const startS = 0.3 * i;
    const part = samples.subarray(startS * sampleRateHz, (startS + 3) * sampleRateHz);
    fs.writeFileSync(cut, monoWav(part, sampleRateHz));
    return cut;
  });
}

function commands(t: TestContext) {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  return {
    folder,
    run: (...args: string[]) => runCli(args, env),
    table: <Result>(work: (profiles: ProfileTable) => Promise<Result>) =>
      withDatabase(sqliteIn(env.VERAVOX_DATA_DIR), (database) => work(new ProfileTable(database))),
  };
}

test('misuse of profiles is a usage error or a clear message', async (t) => {
  const { run } = commands(t);
  const cases: [args: string[], status: number, message: RegExp][] = [
    [['make'], 2, /missing required argument 'name'/],
    [['make', 'Studio', human], 2, /a letter first.* but received Studio/],
    [['make', 'studio', human], 1, /at least 10 genuine recordings, but received 1\./],
    [['make', 'studio', 'missing*.wav'], 1, /No file matches this pattern/],
    [['show', 'studio'], 1, /There is no profile studio\./],
    [['remove', 'studio'], 1, /There is no profile studio\./],
  ];
  for (const [args, status, message] of cases) {
    const found = await run('profiles', ...args);
    assert.match(found.stderr, message, args.join(' '));
    assert.equal(found.status, status);
  }
  assert.match((await run('profiles', 'list')).stdout, /^No profiles\.$/m);
  const unknown = await run('predict', human, '--model', fast, '--profile', 'studio');
  assert.match(unknown.stderr, /a profile of detector-small-2026-11-25 \(it has none\) for --profile/);
  assert.equal(unknown.status, 1);
});

test('a copy of a recording, in whatever container, is named and does not count', async (t) => {
  const { folder, run } = commands(t);
  const cuts = cutsOf(folder, human, 9);
  const copy = path.join(folder, 'copy.flac');
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-i', cuts[3] ?? '', copy]);
  const made = await run('profiles', 'make', 'studio', ...cuts, copy, '--model', fast);
  assert.equal(made.status, 1, made.stdout);
  assert.match(made.stderr, /copy\.flac: The recording sounds exactly like an earlier one/);
  assert.match(made.stderr, /at least 10 different genuine recordings with speech; 9 of 10 can be used\./);
});

test('a profile that helps nobody is not saved', async (t) => {
  const { folder, run } = commands(t);
  const made = await run('profiles', 'make', 'studio', ...cutsOf(folder, human, 10), '--model', fast);
  assert.equal(made.status, 1, made.stdout);
  assert.match(
    made.stderr,
    /The profile studio is not saved: none of the genuine recordings is flagged without it\./,
  );
  assert.match(made.stdout, /0 of 10, 95 % interval 0\.0 % to 27\.8 %/);
  assert.match((await run('profiles', 'list')).stdout, /^No profiles\.$/m);
});

test('a profile is made, named, used, bound to its model, and removed', async (t) => {
  const { folder, run, table } = commands(t);
  // A voice that the detector flags, in the part of people who are.
  const cuts = cutsOf(folder, 'test/fixtures/ai-kokoro.flac', 11);
  const later = cuts.pop() ?? '';
  const broken = path.join(folder, 'broken.wav');
  fs.writeFileSync(broken, 'not audio');
  const partly = await run('profiles', 'make', 'studio', ...cuts, broken, '--model', fast);
  assert.equal(partly.status, 1);
  assert.match(partly.stderr, /broken\.wav: The file is not in a supported format/);
  assert.match(partly.stdout, /Saved as version 1\./);
  await run('profiles', 'remove', 'studio');
  const made = await run('profiles', 'make', 'studio', ...cuts, '--model', fast);
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /Genuine recordings called spoofed.*without it (\d+\.\d) % \(\d+ of 10,/);
  assert.match(made.stdout, /AI-generated speech of other systems called human: .* of 256, 95 % interval/);

  const elsewhere = 'test/fixtures/human-vctk-p225-a.opus';
  const scoresOf = async (...args: string[]) => {
    const files = [later, elsewhere];
    const { stdout, stderr, status } = await run('predict', '--json', ...files, '--model', fast, ...args);
    assert.equal(status, 0, stderr);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const [plain, plainElsewhere] = await scoresOf();
  const [corrected, correctedElsewhere] = await scoresOf('--profile', 'studio');
  assert.ok(corrected.global.score < plain.global.score - 0.1, `${corrected.global.score}`);
  assert.deepEqual([plain.profile, corrected.profile], [undefined, 'studio']);
  assert.deepEqual(correctedElsewhere.segments, plainElsewhere.segments);

  const shown = JSON.parse((await run('profiles', 'show', 'studio')).stdout);
  assert.deepEqual([shown.version, shown.model, shown.recordings.genuine], [1, fast, 10]);
  assert.match((await run('profiles', 'list')).stdout, /^studio +detector-small-2026-11-25 +1 +10 /m);

  const otherModel = await run(
    'predict',
    later,
    '--model',
    'detector-medium-2026-11-25',
    '--profile',
    'studio',
  );
  assert.match(otherModel.stderr, /a profile of detector-medium-2026-11-25 \(it has none\)/);
  await table((profiles) =>
    profiles.save({ ...shown, fingerprint: '9'.repeat(64), model_sha256: '9'.repeat(64) }),
  );
  const otherWeights = await run('predict', later, '--model', fast, '--profile', 'studio');
  assert.match(
    otherWeights.stderr,
    /"studio", which was made with other weights of this model: make it again/,
  );

  assert.match((await run('profiles', 'use', 'studio', '3')).stderr, /no version 3 of the profile studio/);
  assert.equal((await run('profiles', 'use', 'studio', '1')).status, 0);
  const [again] = await scoresOf('--profile', 'studio');
  assert.equal(again.global.score, corrected.global.score);
  const versions = (await run('profiles', 'show', 'studio')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    versions.map(({ version, in_use }) => [version, in_use]),
    [
      [2, false],
      [1, true],
    ],
  );

  assert.equal((await run('profiles', 'remove', 'studio')).status, 0);
  assert.match((await run('profiles', 'list')).stdout, /^No profiles\.$/m);
});
