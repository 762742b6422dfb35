// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { writeTinyVoices } from '../support/speaker-models.js';
import { pointsIn, savePoint } from '../support/stored-points.js';

const detector = 'tiny';
const speech = 'test/fixtures/human-lj-a.flac';

let modelsDir: string;
let fingerprints: ReadonlyMap<string, string>;
before(async () => {
  modelsDir = writeTinyVoices(fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-calibrate-')));
  const { models } = await loadManifest(modelsDir);
  fingerprints = new Map(models.map((model) => [model.id, scoreFingerprintOf(model)]));
});
after(() => fs.rmSync(modelsDir, { recursive: true }));

/** A list of scores: `humans` of them spread from 0 upwards, as many spoofs up to 1. */
function scoresOf(humans: number, model = detector): string {
  const row = (label: string, i: number, score: number): string =>
    `${label}${i}.wav,${label},${score.toFixed(6)},p${i},${model},${fingerprints.get(model)}`;
  const rows = Array.from({ length: humans }, (_, i) => [
    row('bonafide', i, (0.8 * i) / humans),
    row('spoof', i, 1 - (0.8 * i) / humans),
  ]);
  return ['path,label,score,speaker,model,model_fingerprint', ...rows.flat()].join('\n');
}

function calibration(t: TestContext) {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data'), VERAVOX_MODELS_DIR: modelsDir };
  return {
    env,
    dataDir: env.VERAVOX_DATA_DIR,
    calibrate(list: string, ...args: string[]) {
      fs.writeFileSync(path.join(folder, 'scores.csv'), list);
      return runCli(['calibrate', path.join(folder, 'scores.csv'), ...args], env);
    },
  };
}

const misuses: readonly [args: readonly string[], message: RegExp][] = [
  [['--target-fpr', '0.01'], /required option '--name <name>'/],
  [['--name', 'strict'], /expected --target-fpr or --target-fnr/],
  [['--name', 'strict', '--target-fpr', '0.1', '--target-fnr', '0.1'], /cannot be used with option/],
  [['--name', 'strict', '--target-fpr', '1.5'], /a number from 0 to 1 but received 1\.5/],
  [['--name', '0.5', '--target-fpr', '0.1'], /a letter first.* but received 0\.5/],
  [['--name', 'null', '--target-fpr', '0.1'], /but received null/],
];
for (const [args, message] of misuses) {
  test(`veravox calibrate scores.csv ${args.join(' ')} is a usage error`, async (t) => {
    const { calibrate, dataDir } = calibration(t);
    const { status, stderr } = await calibrate(scoresOf(4), ...args);
    assert.match(stderr, message);
    assert.equal(status, 2);
    assert.deepEqual(await pointsIn(dataDir), []);
  });
}

test('a list without the class that the target is about is refused, and nothing is written', async (t) => {
  const { calibrate, dataDir } = calibration(t);
  const spoofs = scoresOf(10)
    .split('\n')
    .filter((line) => !line.startsWith('bonafide'));
  const { status, stderr } = await calibrate(spoofs.join('\n'), '--target-fpr', '0.1', '--name', 'strict');
  assert.equal(status, 1);
  assert.match(stderr, /no scored clips of the class in the target/);
  assert.deepEqual(await pointsIn(dataDir), []);
});

test('the readable part of a list is no list', async (t) => {
  const { calibrate, dataDir } = calibration(t);
  const [header = '', ...rows] = scoresOf(1000).split('\n');
  const gone = [
    'gone.wav',
    'bonafide',
    '',
    'p1',
    detector,
    fingerprints.get(detector),
    'ENOENT',
    'It is gone.',
  ];
  const list = [`${header},error,message`, ...rows.map((row) => `${row},,`), gone.join(',')];
  const { status, stderr } = await calibrate(list.join('\n'), '--target-fpr', '0.01', '--name', 'strict');
  assert.match(stderr, /1 of the clips could not be analysed\. The first: gone\.wav: It is gone\./);
  assert.equal(status, 1);
  assert.deepEqual(await pointsIn(dataDir), []);
});

test('a threshold with the target is kept under the name, for its model as it is now', async (t) => {
  const { calibrate, dataDir } = calibration(t);
  const { status, stdout, stderr } = await calibrate(
    scoresOf(1000),
    '--target-fpr',
    '0.01',
    '--name',
    'strict',
  );
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  assert.match(stdout, /^strict of tiny: 0\.79\d+\n {2}human called spoofed: 1\.00 % \(10 of 1000\)/);
  const [point, ...others] = await pointsIn(dataDir);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [point?.name, point?.model, point?.fingerprint],
    ['strict', detector, fingerprints.get(detector)],
  );
  assert.ok(point && point.threshold > 0.791 && point.threshold <= 0.792, `${point?.threshold}`);
  assert.deepEqual(point.target, { rate: 'fpr', value: 0.01 });
  assert.deepEqual([point.measured.fpr?.count, point.measured.fpr?.of], [10, 1000]);
  assert.deepEqual([point.list, point.where, point.silence_threshold], ['scores.csv', [], null]);
});

test('a list that is too small for the target is warned of, with the bound and how many it takes', async (t) => {
  const { calibrate, dataDir } = calibration(t);
  const { status, stderr } = await calibrate(scoresOf(100), '--target-fpr', '0.01', '--name', 'strict');
  assert.equal(status, 0);
  assert.match(stderr, /^Warning: the list is too small.* target of 1\.00 %: .* as high as \d\.\d+ %\./);
  assert.match(
    stderr,
    /Even without any error, at least 381 independent clips of that class .* there are 100\.\n$/,
  );
  assert.equal((await pointsIn(dataDir)).length, 1, 'it is written all the same');
});

test('the other error may be the target, and a name that is there is replaced with a word', async (t) => {
  const { calibrate, dataDir } = calibration(t);
  await calibrate(scoresOf(1000), '--target-fpr', '0.02', '--name', 'mine');
  const { stdout, stderr } = await calibrate(scoresOf(1000), '--target-fnr', '0.02', '--name', 'mine');
  assert.match(stdout, /spoofed called human: 2\.00 % \(20 of 1000\)/);
  assert.match(stderr, /^It replaces the operating point of \d{4}-.*Z, at 0\.78\d+\.\n$/);
  const points = await pointsIn(dataDir);
  assert.deepEqual(
    points.map(({ target }) => target),
    [{ rate: 'fnr', value: 0.02 }],
  );
});

test('predict, evaluate and doctor know the point; once the model is another one, they refuse it', async (t) => {
  const { calibrate, env, dataDir } = calibration(t);
  await calibrate(scoresOf(1000), '--target-fpr', '0.01', '--name', 'strict');
  const [point] = await pointsIn(dataDir);
  assert.ok(point);
  const predict = (...threshold: string[]) =>
    runCli(['predict', '--json', '--model', detector, speech, '--threshold', ...threshold], env);
  const [named, numbered] = [await predict('strict'), await predict(String(point.threshold))];
  assert.equal(named.status, 0, named.stderr);
  assert.deepEqual(JSON.parse(named.stdout).global, JSON.parse(numbered.stdout).global);
  const doctor = await runCli(['doctor'], env);
  assert.match(doctor.stdout, /ok +operating points +strict of tiny \(0\.79/);

  await savePoint(dataDir, { ...point, fingerprint: '0'.repeat(64), model_sha256: '0'.repeat(64) });
  const refused = await predict('strict');
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /"strict", which was calibrated with other weights of this model: calibrate again/,
  );
  const complaint = await runCli(['doctor'], env);
  assert.match(complaint.stdout, /failed +operating points +strict of .* was calibrated with other weights/);
  assert.equal(complaint.status, 1);
});

test('trials give a point of the speaker model, which verify is configured by', async (t) => {
  const { calibrate, env, dataDir } = calibration(t);
  const id = 'average-spectrum';
  const rows = Array.from({ length: 500 }, (_, i) => [
    `a${i}.wav,b.wav,nontarget,${((0.9 * i) / 500).toFixed(6)},${id},${fingerprints.get(id)}`,
    `a${i}.wav,c.wav,target,0.95,${id},${fingerprints.get(id)}`,
  ]);
  const list = ['enrolment,sample,label,score,model,model_fingerprint', ...rows.flat()].join('\n');
  const { status, stdout, stderr } = await calibrate(list, '--target-fpr', '0.02', '--name', 'bank');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /strangers accepted: 2\.00 % \(10 of 500\)[\s\S]*VERAVOX_MATCH_THRESHOLD=bank/);
  assert.equal((await pointsIn(dataDir))[0]?.model, id);

  const verify = (threshold: string) =>
    runCli(['enroll', 'test/fixtures/human-vctk-p226-a.opus'], {
      ...env,
      VERAVOX_MATCH_THRESHOLD: threshold,
      VERAVOX_ENROLL_AUTHENTICITY: 'skip',
    });
  assert.equal((await verify('bank')).status, 0);
  assert.match(
    (await verify('shop')).stderr,
    /operating point of average-spectrum \(bank\) for VERAVOX_MATCH_THRESHOLD/,
  );
});
