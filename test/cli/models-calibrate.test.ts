// SPDX-License-Identifier: Apache-2.0
//
// A detector whose log-odds are the mean of the samples, and constant recordings, so that its input is known.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { recordAnswers } from '../../src/analysis/known-answers/record.js';
import { checkManifest, type DetectionModel } from '../../src/analysis/models/manifest.js';
import { recalibrated } from '../../src/analysis/models/recalibrated.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import {
  bothClassesAlike,
  calibratedScore,
  fitCalibration,
  type ScaleAndBias,
  type UncalibratedClip,
  type WeightedErrors,
  weightedFigures,
} from '../../src/evaluation/figures/calibration-fit.js';
import { type Finished, runCli, runModels, temporaryFolder } from '../support/cli.js';
import { type AnyEntry, editManifest, replaceFile } from '../support/imported-models.js';
import { meanModel } from '../support/onnx-file.js';
import { averageSpectrum } from '../support/speaker-models.js';
import { testConfig } from '../support/test-server.js';
import { tinyEntry, writeManifest } from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';

/** As drawn by test/reference/calibration.py. */
function madeUp(seed: number, count: number, groups: number, shift: number): UncalibratedClip[] {
  let state = seed;
  const draw = (): number => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  return Array.from({ length: count }, (_, i) => {
    const isPositive = i % 3 !== 0;
    const group = Math.floor(draw() ** 2 * groups);
    const centre = (isPositive ? 1.5 : -1) + 0.4 * (group % 3) + shift;
    const windows = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => [
      centre + 3 * (draw() + draw() - 1),
    ]);
    return { isPositive, group: `${group}`, windows };
  });
}

const near = (measured: number, expected: number, tolerance = 1e-4): void =>
  assert.ok(Math.abs(measured - expected) <= tolerance, `${measured}, not ${expected}`);

describe('the rule', () => {
  /** Results of test/reference/calibration.py. */
  const references: readonly {
    readonly made: Parameters<typeof madeUp>;
    readonly weights: readonly number[];
    readonly calibration: ScaleAndBias;
    readonly figures: WeightedErrors;
  }[] = [
    {
      made: [7, 300, 9, 0],
      weights: [0.00145773, 0.00326797],
      calibration: { scale: 2.1874, bias: -1.2716 },
      figures: { fpr: 0.1251, fnr: 0.1294, eer: 0.1251, expectedCalibrationError: 0.0558 },
    },
    {
      made: [11, 90, 14, 2.5],
      weights: [0.025, 0.00434783],
      calibration: { scale: 2.0301, bias: -5.8416 },
      figures: { fpr: 0.125, fnr: 0.1129, eer: 0.1129, expectedCalibrationError: 0.0983 },
    },
    {
      made: [5, 1000, 6, -4],
      weights: [0.00061275, 0.00071839],
      calibration: { scale: 2.1502, bias: 7.0074 },
      figures: { fpr: 0.1324, fnr: 0.1322, eer: 0.1322, expectedCalibrationError: 0.0499 },
    },
  ];
  for (const { made, weights, calibration, figures } of references) {
    test(`gives ${made[1]} clips what training/judge/calibrate_detector.py gives them`, () => {
      const clips = madeUp(...made);
      const alike = bothClassesAlike(clips);
      weights.forEach((weight, i) => {
        near(alike[i] as number, weight, 1e-8);
      });
      assert.deepEqual(fitCalibration(clips, false), calibration);
      const scores = clips.map((clip) => calibratedScore(clip, calibration));
      const found = weightedFigures(
        scores,
        clips.map(({ isPositive }) => isPositive),
        alike,
      );
      for (const name of Object.keys(figures) as (keyof typeof figures)[]) near(found[name], figures[name]);
    });
  }

  test('groups of fewer than five clips count as one, in each class', () => {
    const clip = (isPositive: boolean, group: string): UncalibratedClip => ({
      isPositive,
      group,
      windows: [[0]],
    });
    const clips = [
      ...Array.from({ length: 6 }, () => clip(true, 'large')),
      ...['a', 'a', 'b', 'c'].map((group) => clip(true, group)),
      ...Array.from({ length: 5 }, () => clip(false, 'only')),
    ];
    const weights = [...bothClassesAlike(clips)];
    const expected = [...Array(6).fill(0.25 / 6), ...Array(4).fill(0.25 / 4), ...Array(5).fill(0.1)];
    weights.forEach((weight, i) => {
      near(weight, expected[i], 1e-12);
    });
  });

  test('a clip has the mean score of its windows, a window that of its inputs', () => {
    const windows = [[1, 3], [-2]];
    const score = calibratedScore({ isPositive: true, group: '', windows }, { scale: 2, bias: -1 });
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
    near(score, ((sigmoid(1) + sigmoid(5)) / 2 + sigmoid(-5)) / 2, 1e-12);
  });

  test('a detector that takes a high number for a human voice keeps a negative scale', () => {
    const clips = madeUp(7, 300, 9, 0);
    const turned = clips.map((clip) => ({
      ...clip,
      windows: clip.windows.map((window) => window.map((x) => -x)),
    }));
    assert.deepEqual(fitCalibration(turned, true), { scale: -2.1874, bias: -1.2716 });
    assert.throws(() => fitCalibration(turned, false), /do not tell the classes apart/);
  });

  test('log-odds far from 0 are fitted, too', () => {
    const far = madeUp(7, 300, 9, 120);
    const { scale, bias } = fitCalibration(far, false);
    near(scale, 2.1874);
    near(bias, -1.2716 - 120 * 2.1874, 0.01);
  });
});

describe('an entry with another calibration', () => {
  function detector(t: TestContext, more: object = {}): DetectionModel {
    const entry = { ...tinyEntry(temporaryFolder(t), 'tiny', 'even'), ...more };
    return checkManifest('here', { version: 1, models: [entry] }).models[0] as DetectionModel;
  }
  const fitted: ScaleAndBias = { scale: 3, bias: -1 };

  test('has offsets by codec that move its log-odds as far as before', (t) => {
    const codecs = {
      opus: [
        [16000, -1],
        [64000, 0.5],
      ],
    };
    const { model, notes } = recalibrated(
      detector(t, { calibration: { scale: 2, bias: 5, codecs } }),
      fitted,
    );
    assert.deepEqual(model.calibration, {
      scale: 3,
      bias: -1,
      codecs: {
        opus: [
          [16000, -1.5],
          [64000, 0.75],
        ],
      },
    });
    assert.match(notes.join('\n'), /codecs: the offsets are multiplied by 1\.5000/);
  });

  test('is refused if an offset would leave its range', (t) => {
    const calibration = { scale: 0.5, bias: 0, codecs: { gsm_ms: [[13000, -2]] } };
    assert.throws(
      () => recalibrated(detector(t, { calibration }), fitted),
      /calibration\.codecs\.gsm_ms: .*would be -12, and a manifest takes up to 10/,
    );
  });

  test('lacks what was measured with the one before, and says so', (t) => {
    const abstention = { confidence_below: 0.1, error_bound: 0.3, verdicts_given: 0.9 };
    const more = { abstention, metrics: { eer: 0.1 }, training: { by: 'us' } };
    const { model, notes } = recalibrated(detector(t, more), fitted);
    assert.equal(model.abstention, undefined);
    assert.deepEqual([model.metrics, model.training], [{}, { by: 'us' }]);
    assert.match(notes.join('\n'), /abstention is dropped[\s\S]*metrics are dropped/);
  });

  test('keeps an operating point of 0.5, and moves one that somebody chose with the scores', (t) => {
    const usual = recalibrated(detector(t), fitted);
    assert.equal(usual.model.operating_point, 0.5);
    assert.match(usual.notes.join('\n'), /stays 0\.5, now the equal-error point/);
    const { model, notes } = recalibrated(detector(t, { operating_point: 0.9 }), fitted);
    // ln 9 is the log-odds of 0.9.
    near(model.operating_point, 1 / (1 + Math.exp(1 - 3 * Math.log(9))), 1e-6);
    assert.match(
      notes.join('\n'),
      /0\.9 becomes 0\.99\d+, from which voice identity refuses the same voices/,
    );
    for (const end of [0, 1]) {
      assert.equal(recalibrated(detector(t, { operating_point: end }), fitted).model.operating_point, end);
    }
  });
});

const RATE_HZ = 16_000;

/** A recording of several values in turn, for this many seconds each. */
function levels(values: readonly number[], eachS: number): Uint8Array {
  const each = eachS * RATE_HZ;
  return monoWav(
    Float32Array.from({ length: values.length * each }, (_, i) => values[Math.floor(i / each)] as number),
    RATE_HZ,
  );
}

const CLIPS = 120;
let recordings: string;

/** Sixty human and sixty generated clips of one or two windows each. */
before(() => {
  recordings = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-levels-'));
  for (let i = 0; i < CLIPS; i++) {
    const level = (i % 2 === 0 ? 0.1 : -0.25) + 0.5 * (((i * 37) % CLIPS) / CLIPS);
    const file = i % 3 === 0 ? levels([level - 0.2, level + 0.2], 5) : levels([level], 4);
    fs.writeFileSync(path.join(recordings, `${i}.wav`), file);
  }
});
after(() => fs.rmSync(recordings, { recursive: true }));

interface Workplace {
  readonly folder: string;
  readonly list: string;
  manifest(): string;
  entry(): AnyEntry;
  calibrate(...args: string[]): Promise<Finished>;
}

const HEADER = 'path,label,system,source,split';

/** @param inputs per window */
function workplace(t: TestContext, edit: (entry: AnyEntry) => void = () => {}, inputs = 1): Workplace {
  const folder = temporaryFolder(t);
  const entry: AnyEntry = tinyEntry(folder, 'tiny', 'even');
  entry.aliases = ['best'];
  if (inputs > 1) {
    const samples = 40_000;
    replaceFile(entry, folder, meanModel([1, samples], 1));
    entry.window_samples = samples;
    entry.hop_samples = samples / (inputs - 1);
    entry.input = { name: 'features', shape: ['batch', 1, samples] };
  }
  edit(entry);
  const { entry: speaker, file } = averageSpectrum();
  fs.writeFileSync(path.join(folder, speaker.file), file);
  writeManifest(folder, [entry, speaker]);
  const rows = Array.from({ length: CLIPS }, (_, i) => {
    const isSpoof = i % 2 === 0;
    fs.symlinkSync(path.join(recordings, `${i}.wav`), path.join(folder, `${i}.wav`));
    const group = i % 12 < 6 ? 'a' : `g${i % 12}`;
    return `${i}.wav,${isSpoof ? 'spoof' : 'bonafide'},${isSpoof ? group : ''},${group},${i < 100 ? 'fit' : 'test'}`;
  });
  const list = path.join(folder, 'clips.csv');
  fs.writeFileSync(list, [HEADER, ...rows].join('\n'));
  const manifest = (): string => fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8');
  return {
    folder,
    list,
    manifest,
    entry: () => JSON.parse(manifest()).models.find(({ id }: AnyEntry) => id === 'tiny'),
    calibrate: (...args) => runModels(folder, 'calibrate', ...args, '--silence-threshold', '100'),
  };
}

const evaluated = (place: Workplace, ...args: string[]): Promise<Finished> =>
  runCli(['evaluate', place.list, '--model', 'tiny', '--silence-threshold', '100', ...args], {
    VERAVOX_MODELS_DIR: place.folder,
    VERAVOX_DATA_DIR: path.join(place.folder, 'data'),
  });

test('the manifest gets the calibration and new known answers, and nothing else changes', async (t) => {
  const vectors = { outputs: ['features'], numbers: 1, generated: 'tiny.generated.bin', step: 1 };
  const place = workplace(t, (entry) => {
    entry.vectors = { ...vectors, generated_sha256: '0'.repeat(64) };
  });
  assert.equal((await runModels(place.folder, 'record', '--tolerance', '0.01')).status, 0);
  const before = JSON.parse(place.manifest());
  const { status, stdout, stderr } = await place.calibrate('best', place.list);
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /^tiny {2}clips\.csv {2}60 bonafide of 4 sources, 60 spoof of 4 systems\n\ncalibration: scale 1 -> [\d.]+, bias 0 -> -[\d.]+\n/,
  );
  assert.match(stdout, /\nfigure +before +after\nhuman called spoofed at 0\.5 +\d+\.\d % +\d+\.\d %\n/);
  assert.match(stdout, /\nequal error rate, systems and sources alike +/);
  assert.match(stdout, /\nWritten to .*manifest\.json, with the answers for \d+ clips\.\n/);
  assert.match(stdout, /Operating points that veravox calibrate saved .*: find them again\.\n/);
  assert.match(stderr, /^Warning: the bonafide clips are of 4 sources; with fewer than 5,/);
  assert.match(stderr, /\nWarning: the spoof clips are of 4 systems; /);

  const after = JSON.parse(place.manifest());
  assert.equal(place.manifest(), `${JSON.stringify(after, null, 2)}\n`);
  const [entry] = after.models;
  assert.ok(entry.calibration.scale > 5 && entry.calibration.bias < 0, JSON.stringify(entry.calibration));
  assert.notDeepEqual(entry.known_answers, before.models[0].known_answers);
  for (const { tolerance } of entry.known_answers) assert.equal(tolerance, 0.01);
  assert.deepEqual(entry.vectors.calibration, before.models[0].calibration);
  delete entry.vectors.calibration;
  for (const model of [entry, before.models[0]]) {
    delete model.calibration;
    delete model.known_answers;
  }
  assert.deepEqual(after, before);
  assert.deepEqual(
    fs.readdirSync(place.folder).filter((name) => name.includes('tmp')),
    [],
  );
  const check = await runModels(place.folder, 'check', '--runs', '1');
  assert.equal(check.status, 0, check.stdout);
  assert.match(
    fs
      .readdirSync(path.join(place.folder, 'data/audit'))
      .map((name) => fs.readFileSync(path.join(place.folder, 'data/audit', name), 'utf8'))
      .join(''),
    /"event":"model_calibrated","model":"tiny","scale":[\d.]+,"bias":-[\d.]+/,
  );
});

for (const inputs of [1, 3]) {
  test(`0.5 becomes the equal-error point of the scores that are served, of ${inputs} inputs per window`, async (t) => {
    const place = workplace(t, undefined, inputs);
    // Without groups, as for the equal error rate of a report.
    fs.writeFileSync(place.list, fs.readFileSync(place.list, 'utf8').replace('system,source', 'a,b'));
    const { status, stderr } = await place.calibrate('tiny', place.list);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /the list has no column source[\s\S]*the list has no column system/);
    const report = path.join(place.folder, 'report.json');
    assert.equal((await evaluated(place, '--report', report)).status, 0);
    const { overall, at_threshold, calibration } = JSON.parse(fs.readFileSync(report, 'utf8'));
    near(overall.eer.threshold, 0.5, 0.02);
    near(at_threshold.fpr.value, at_threshold.fnr.value, 0.02);
    near(at_threshold.fpr.value, overall.eer.value, 0.02);
    assert.ok(calibration.expected_calibration_error < 0.15, JSON.stringify(calibration));

    // It starts from the log-odds, not from the scores: repeating it changes nothing.
    const { calibration: once } = place.entry();
    assert.equal((await place.calibrate('tiny', place.list)).status, 0);
    const { calibration: twice } = place.entry();
    near(twice.scale, once.scale, 2e-3);
    near(twice.bias, once.bias, 2e-3);
  });
}

test('--dry-run prints and writes nothing; --where chooses rows', async (t) => {
  const place = workplace(t);
  const [before, files] = [place.manifest(), fs.readdirSync(place.folder)];
  const { status, stdout, stderr } = await place.calibrate(
    'tiny',
    place.list,
    '--dry-run',
    '--where',
    'split=test',
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, / 10 bonafide of .* 10 spoof of [\s\S]*\nDry run: nothing was written\.\n$/);
  assert.match(stderr, /Warning: only 10 clips with the label bonafide; with fewer than 50/);
  assert.equal(place.manifest(), before);
  assert.deepEqual(fs.readdirSync(place.folder), files);
});

test('what stands beside the model and speaks of the calibration before is named', async (t) => {
  const place = workplace(t, (entry) => {
    entry.metrics = { eer: 0.2 };
  });
  fs.writeFileSync(path.join(place.folder, 'tiny.figures.json'), '{}');
  fs.writeFileSync(path.join(place.folder, 'tiny.md'), '');
  const { stdout } = await place.calibrate('tiny', place.list);
  assert.match(stdout, /\n- metrics are dropped/);
  assert.match(stdout, /\n- tiny\.figures\.json no longer counts/);
  assert.match(stdout, /\n- tiny\.md speaks of the calibration before/);
  assert.deepEqual(place.entry().metrics, {});
});

describe('what cannot be used is refused, and nothing is written', () => {
  const onlyBonafide = (text: string): string =>
    text
      .split('\n')
      .filter((line) => !line.includes('spoof'))
      .join('\n');
  const swapped = (text: string): string =>
    text.replaceAll(/bonafide|spoof/g, (label) => (label === 'spoof' ? 'bonafide' : 'spoof'));
  /** The human clips below every generated one. */
  const apart = (text: string): string =>
    text
      .split('\n')
      .filter((line) => {
        const level = ((Number.parseInt(line, 10) * 37) % 120) / 120;
        return line === HEADER || (line.includes('spoof') ? level > 0.5 : level < 0.3);
      })
      .join('\n');
  const cases: Readonly<
    Record<string, readonly [id: string, edit: (list: string) => string, message: RegExp]>
  > = {
    'an unknown id': ['other', (list) => list, /there is no model with the id or alias other/],
    'a speaker model': [
      'average-spectrum',
      (list) => list,
      /average-spectrum is a speaker model; only detectors/,
    ],
    'a list of one class': ['tiny', onlyBonafide, /no scored clips with the label spoof; both classes/],
    'a list of trials': [
      'tiny',
      () => 'enrolment,sample,label\na,b,target\n',
      /list of clips .*, not of trials/,
    ],
    'a list without rows': ['tiny', () => `${HEADER}\n`, /no rows to score/],
    'classes that are swapped': ['tiny', swapped, /do not tell the classes apart.*the scale would be -/],
    'classes without a single error': ['tiny', apart, /cannot tell how steep scores should be/],
    'a clip that is not there': [
      'tiny',
      (list) => `${list}\ngone.wav,spoof,,,\n`,
      /1 of the clips could not be analysed\. The first: gone\.wav: There is no such file/,
    ],
  };
  for (const [name, [id, edit, message]] of Object.entries(cases)) {
    test(name, async (t) => {
      const place = workplace(t);
      fs.writeFileSync(place.list, edit(fs.readFileSync(place.list, 'utf8')));
      const before = place.manifest();
      const { status, stderr } = await place.calibrate(id, place.list);
      assert.match(stderr, message);
      assert.equal(status, 1);
      assert.equal(place.manifest(), before);
      assert.equal(fs.existsSync(path.join(place.folder, 'known-answers')), false);
    });
  }

  test('a manifest with a fault', async (t) => {
    const place = workplace(t);
    editManifest(place.folder, (models) => {
      models[0].output.kind = 'loudness';
    });
    const { status, stderr } = await place.calibrate('tiny', place.list);
    assert.equal(status, 1);
    assert.match(stderr, /tiny: models\[0\]\.output\.kind/);
  });

  test('weights that are not those of the manifest', async (t) => {
    const place = workplace(t, (entry) => {
      entry.sha256 = '0'.repeat(64);
    });
    const { status, stderr } = await place.calibrate('tiny', place.list);
    assert.equal(status, 1);
    assert.match(stderr, /expected the SHA-256 0{64} of tiny/);
  });

  test('clips that are refused are left out and counted', async (t) => {
    const place = workplace(t);
    fs.writeFileSync(
      path.join(place.folder, 'short.wav'),
      monoWav(new Float32Array(8000).fill(0.1), RATE_HZ),
    );
    fs.appendFileSync(place.list, '\nshort.wav,spoof,,,\n');
    const { status, stdout } = await place.calibrate('tiny', place.list, '--dry-run');
    assert.equal(status, 0);
    assert.match(stdout, /60 spoof of 4 systems; 1 clip without a score left out\n/);
  });

  test('an entry that changes while its answers are recorded', async (t) => {
    const place = workplace(t);
    const before = place.manifest();
    const config = { ...testConfig, modelsDir: place.folder };
    const fingerprints: string[] = [];
    const record = recordAnswers(config, ['tiny'], {}, (entry) => {
      fingerprints.push(scoreFingerprintOf(entry as unknown as DetectionModel));
      throw new Error('changed');
    });
    await assert.rejects(record, /changed/);
    assert.deepEqual(fingerprints, [scoreFingerprintOf(place.entry())], 'as the manifest says it');
    assert.equal(place.manifest(), before);
  });
});
