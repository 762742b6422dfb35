// SPDX-License-Identifier: Apache-2.0
//
// Through the shipped models, on the recordings of test/fixtures; evaluation-*.test.ts tests the figures themselves.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import type { Manifest } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { Report } from '../../src/evaluation/figures/report.js';
import { reportSchema } from '../../src/evaluation/figures/report-schema.js';
import { runCli, temporaryFolder } from '../support/cli.js';
import { shippedModelsDir, writeModels } from '../support/speaker-models.js';
import { tinyEntry, writeManifest } from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';

const fast = 'detector-small-2026-11-25';
const fixtures = path.join(packageDir, 'test/fixtures');

interface Workplace {
  readonly folder: string;
  /** Runs the command on a list with these lines, beside the fixtures. */
  evaluate(list: string, ...args: string[]): ReturnType<typeof runCli>;
  in(name: string): string;
  report(name: string): Report;
}

function workplace(t: TestContext, env: Readonly<Record<string, string>> = {}): Workplace {
  const folder = temporaryFolder(t);
  for (const name of fs.readdirSync(fixtures)) {
    fs.symlinkSync(path.join(fixtures, name), path.join(folder, name));
  }
  const inFolder = (name: string): string => path.join(folder, name);
  return {
    folder,
    in: inFolder,
    evaluate(list, ...args) {
      fs.writeFileSync(inFolder('list.csv'), list);
      return runCli(['evaluate', inFolder('list.csv'), ...args], {
        VERAVOX_DATA_DIR: inFolder('data'),
        ...env,
      });
    },
    report: (name) => JSON.parse(fs.readFileSync(inFolder(name), 'utf8')) as Report,
  };
}

const clips = [
  'path,label,source,system,language',
  'human-lj-a.flac,bonafide,lj,,en',
  'human-lj-b.flac,bonafide,lj,,en',
  'human-vctk-p237.flac,bonafide,vctk,,en',
  'ai-wavenet-lj.flac,spoof,lj,wavenet,en',
  'ai-kokoro.flac,spoof,kokoro,kokoro,en',
];

describe('what makes no sense is refused', () => {
  const misuses: readonly [args: readonly string[], status: number, message: RegExp][] = [
    [[], 2, /missing required argument 'list'/],
    [['list.csv', '--where', 'split'], 2, /condition such as split=valid but received split/],
    [['list.csv', '--device', 'gpu'], 2, /one of auto, cpu, cuda, webgpu but received gpu/],
    [['list.csv', '--threshold', '2'], 2, /or the name of an operating point but received 2/],
    [['missing.csv'], 1, /no such file or folder: .*missing\.csv\.\n/],
    [['list.csv', '--report', '/nowhere/at/all.json'], 1, /no such file or folder: \/nowhere\/at\./],
    [['list.csv', '--where', 'language=xx'], 1, /no rows to score/],
    [['list.csv', '--group-by', 'speaker'], 1, /no column speaker to group by\. Columns: path, label/],
    [['list.csv', '--model', 'gpt'], 1, /one of apollo-4-5-2026-03-26, .* for model but received gpt/],
    [['list.csv', '--threshold', 'strict'], 1, /operating point of .* \(it has none\) for --threshold/],
    [['list.csv', '--report', '.'], 1, /Expected the name of a file but received the folder \./],
    [['list.csv', '--compare', 'gpt'], 1, /one of apollo-4-5-2026-03-26, .* for model but received gpt/],
    [['list.csv', '--compare', '/nowhere/scores.csv'], 1, /no such file or folder: \/nowhere\/scores\.csv/],
  ];
  for (const [args, expected, message] of misuses) {
    test(`veravox evaluate ${args.join(' ')}`, async (t) => {
      const { folder, in: inFolder } = workplace(t);
      // Scoring them would be an error of its own.
      fs.writeFileSync(inFolder('list.csv'), `${clips[0]}\ngone.wav,bonafide,lj,,en\n`);
      const [list, ...rest] = args;
      const given = list === undefined ? [] : [path.join(folder, list), ...rest];
      const { status, stdout, stderr } = await runCli(['evaluate', ...given]);
      assert.match(stderr, message);
      assert.equal(status, expected);
      assert.equal(stdout, '');
    });
  }
});

describe('nothing is written over', () => {
  const clipList = 'path,label\nclip.wav,spoof\n';
  const trialList = 'enrolment,sample,label\na.wav; clip.wav,b.wav,target\n';
  for (const { what, list, outputs, message } of [
    {
      what: 'a list',
      list: clipList,
      outputs: ['--scores', 'same.csv'],
      message: /same\.csv, which is an i/,
    },
    {
      what: 'a clip of the list',
      list: clipList,
      outputs: ['--report', 'clip.wav'],
      message: /clip\.wav, whi/,
    },
    {
      what: 'a trial by a link',
      list: trialList,
      outputs: ['--html', 'link.wav'],
      message: /link\.wav, whi/,
    },
    {
      what: 'an output by another one',
      list: clipList,
      outputs: ['--report', 'new.json', '--html', './new.json'],
      message: /new\.json is for two/,
    },
  ]) {
    test(what, async (t) => {
      const { folder, evaluate, in: inFolder } = workplace(t);
      fs.symlinkSync('list.csv', inFolder('same.csv'));
      fs.writeFileSync(inFolder('clip.wav'), 'kept');
      fs.symlinkSync('clip.wav', inFolder('link.wav'));
      const args = outputs.map((arg) => (arg.startsWith('--') ? arg : `${folder}/${arg}`));
      const { status, stderr } = await evaluate(list, ...args);
      assert.match(stderr, message);
      assert.equal(status, 1);
      assert.equal(fs.readFileSync(inFolder('list.csv'), 'utf8'), list);
      assert.equal(fs.readFileSync(inFolder('clip.wav'), 'utf8'), 'kept');
      assert.equal(fs.existsSync(inFolder('new.json')), false);
    });
  }
});

test('columns that --scores would replace are named before a file is scored', async (t) => {
  const { evaluate, in: inFolder } = workplace(t);
  const list = 'path,label,model,notes,message\nmissing.wav,spoof,tts,x,y\n';
  const { status, stderr } = await evaluate(list, '--scores', inFolder('scores.csv'));
  assert.match(stderr, /rename yours: model, message\./);
  assert.equal(status, 1);
});

test('a list of which nothing can be scored is a failure that says why; its scores are written', async (t) => {
  const { evaluate, in: inFolder } = workplace(t);
  const list = 'path,label\nmissing.wav,spoof\n';
  const { status, stderr } = await evaluate(list, '--scores', inFolder('scores.csv'));
  assert.equal(status, 1);
  assert.match(fs.readFileSync(inFolder('scores.csv'), 'utf8'), /missing\.wav,spoof,.*ENOENT/);
  assert.match(stderr, /No row of the list could be scored\. The first: missing\.wav: There is no such file/);
});

test('files that are refused are counted and listed; one that cannot be read makes the exit code 1', async (t) => {
  const place = workplace(t);
  fs.writeFileSync(place.in('short.wav'), monoWav(new Float32Array(8000).fill(0.1), 16_000));
  fs.writeFileSync(place.in('silent.wav'), monoWav(new Float32Array(80_000), 16_000));
  fs.writeFileSync(place.in('empty.wav'), '');
  const list = [
    ...clips,
    'short.wav,spoof,,,',
    'silent.wav,bonafide,,,',
    'list.csv,spoof,,,',
    'empty.wav,spoof,,,',
  ];
  const refused = await place.evaluate(list.join('\n'), '--model', fast, '--report', place.in('report.json'));
  assert.equal(refused.status, 0, refused.stderr);
  const { failures, counts } = place.report('report.json');
  assert.deepEqual([counts.positive, counts.negative, counts.failed], [2, 3, 4]);
  assert.deepEqual(
    Object.fromEntries(failures.map(({ code, files }) => [code, files.map(({ name }) => name)])),
    {
      UNSUPPORTED_FORMAT: ['list.csv', 'empty.wav'],
      AUDIO_TOO_SHORT: ['short.wav'],
      NO_SPEECH: ['silent.wav'],
    },
  );
  assert.match(refused.stdout, /without a score +bonafide +spoof\nUNSUPPORTED_FORMAT +0 +2\n/);

  const unread = await place.evaluate(
    [...clips.slice(0, 2), 'gone.wav,spoof,,,', '.,spoof,,,'].join('\n'),
    '--model',
    fast,
  );
  assert.equal(unread.status, 1);
  assert.match(unread.stdout, /ENOENT +0 +1\n/);
  assert.match(unread.stdout, /UNREADABLE +0 +1\n/);
});

test('scores are those of veravox predict, and the report keeps to its schema', async (t) => {
  const place = workplace(t);
  const outputs = ['report', 'html', 'scores', 'svg'].flatMap((kind) => [
    `--${kind}`,
    place.in(`out-${kind}`),
  ]);
  const { status, stdout, stderr } = await place.evaluate(
    clips.join('\n'),
    '--model',
    'apollo-4-2025-10-20',
    ...outputs,
  );
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '', 'no progress where there is no terminal');
  assert.match(stdout, /^detector-small-2026-11-25 {2}list\.csv {2}3 bonafide, 2 spoof clips\n/);
  assert.match(stdout, /\n5 files in [\d.]+ s: [\d.]+ files\/s, \d+ times real time\.\n$/);

  const names = clips.slice(1).map((line) => line.split(',')[0] ?? '');
  const predicted = await runCli(['predict', '--json', '--model', fast, ...names.map(place.in)]);
  const answers = predicted.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rows = fs.readFileSync(place.in('out-scores'), 'utf8').trimEnd().split('\n');
  const header = rows[0]?.split(',') ?? [];
  assert.deepEqual(header.slice(0, 6), ['path', 'label', 'source', 'system', 'language', 'score']);
  const scores = rows.slice(1).map((row) => Number(row.split(',')[5]));
  assert.deepEqual(
    scores,
    answers.map(({ global }) => global.score),
  );

  const verdicts = rows.slice(1).map((row) => row.split(',').slice(6, 8));
  assert.deepEqual(header.slice(6, 8), ['confidence', 'reason']);
  assert.deepEqual(
    verdicts,
    answers.map(({ global }) => [`${global.confidence}`, global.reason ?? '']),
  );

  const report = place.report('out-report');
  const isReport = new Ajv({ formats: { 'date-time': true } }).compile(reportSchema);
  assert.ok(isReport(report), JSON.stringify(isReport.errors));
  assert.equal(report.model.id, fast);
  assert.deepEqual([report.threshold_name, report.at_threshold.threshold], [null, 0.5]);
  assert.equal(report.run?.files, 5);
  const audioS = answers.reduce((sum, { audio_duration }) => sum + audio_duration, 0);
  assert.ok(Math.abs((report.run?.audio_s ?? 0) - audioS) < 0.01);
  const wrong = answers.flatMap(({ global }, i) =>
    (global.result === 'spoofed') !== i > 2 ? [names[i]] : [],
  );
  assert.equal(report.at_threshold.accuracy.count, 5 - wrong.length);
  assert.deepEqual(report.most_wrong.map(({ name }) => name).sort(), wrong.sort());
  assert.match(
    stdout,
    /\nNot given: mean AUC inside one source \(a mean needs at least 5 sources with both classes; the list has 1\)\./,
  );
  assert.match(
    stdout,
    /\n {6}0\.9 +\d+\.\d % +\d+\.\d %\nNot given: a threshold for at most 0\.1 %, .* or 10\.0 % human called spoofed \(a threshold needs at least 5 speakers or sources of human clips; the list has 2\)\.\nNot given: intervals of human called spoofed \(an interval needs .*\)\.\nNot given: intervals of spoofed called human /,
  );
  assert.deepEqual(
    report.thresholds.map(({ fpr }) => fpr.interval_95_units),
    Array(9).fill(null),
  );
  assert.deepEqual(
    [...new Set(report.groups.map(({ column }) => column))],
    ['system', 'source', 'language', 'duration', 'reason'],
  );
  assert.deepEqual(
    report.inside_one_source?.sources.map(({ source }) => source),
    ['lj'],
  );

  assert.match(
    fs.readFileSync(place.in('out-html'), 'utf8'),
    /^<!doctype html>[\s\S]*<svg[\s\S]*<\/html>\n$/,
  );
  assert.deepEqual(fs.readdirSync(place.in('out-svg')).sort(), ['det.svg', 'reliability.svg', 'scores.svg']);

  // The scores alone give the same findings, without the files.
  const again = await runCli(['evaluate', place.in('out-scores'), '--report', place.in('again.json')]);
  assert.equal(again.status, 0, again.stderr);
  const { run, created_at, list, silence_threshold, ...findings } = place.report('again.json');
  assert.equal(run, null);
  assert.equal(silence_threshold, null);
  for (const [member, value] of Object.entries(findings)) {
    assert.deepEqual(value, report[member as keyof Report], member);
  }

  // Confidence and reason belong to a threshold.
  const other = ['--threshold', '0.1', '--scores', place.in('other.csv'), '--report', place.in('other.json')];
  const moved = await runCli(['evaluate', place.in('out-scores'), ...other]);
  assert.equal(moved.status, 0, moved.stderr);
  const { most_wrong, groups } = place.report('other.json');
  assert.ok(most_wrong.length > 0);
  for (const { confidence, reason } of most_wrong) assert.deepEqual([confidence, reason], [null, null]);
  assert.ok(!groups.some(({ column }) => column === 'reason'));
  const [first = '', ...later] = fs.readFileSync(place.in('other.csv'), 'utf8').trimEnd().split('\n');
  const at = first.split(',').indexOf('confidence');
  for (const row of later) assert.deepEqual(row.split(',').slice(at, at + 3), ['', '', '']);
});

test('two models are compared on one list, each scored now or by an earlier run', async (t) => {
  const [one, other] = ['model-one', 'model-two'];
  const env = { VERAVOX_MODELS_DIR: temporaryFolder(t) };
  // They contradict each other. The means of recordings differ little.
  const scaled = (id: string, scale: number) => ({
    ...tinyEntry(env.VERAVOX_MODELS_DIR, id, 'even'),
    calibration: { scale, bias: 0 },
  });
  writeManifest(env.VERAVOX_MODELS_DIR, [scaled(one, 1e4), scaled(other, -1e4)]);
  const place = workplace(t, env);
  const scores = ['--scores', place.in('one.csv')];
  const alone = await place.evaluate(
    clips.join('\n'),
    '--model',
    one,
    ...scores,
    '--report',
    place.in('a.json'),
  );
  assert.equal(alone.status, 0, alone.stderr);
  assert.equal(place.report('a.json').comparison, null);

  const args = ['--model', other, '--report', place.in('b.json')];
  const both = await place.evaluate(clips.join('\n'), ...args, '--compare', one);
  assert.equal(both.status, 0, both.stderr);
  assert.match(both.stdout, /\nCompared with model-one at 0\.5: 5 clips\n/);
  assert.match(
    both.stdout,
    /\nNo intervals: an interval needs at least 5 systems or sources of each class; the list has 2\.\n/,
  );
  const { comparison } = place.report('b.json');
  assert.equal(comparison?.id, one);
  assert.notEqual(comparison?.auc?.other, comparison?.auc?.model);
  assert.equal(comparison?.auc?.other, place.report('a.json').overall.auc?.value);
  assert.equal(comparison?.auc?.model, place.report('b.json').overall.auc?.value);
  const isReport = new Ajv({ formats: { 'date-time': true } }).compile(reportSchema);
  assert.ok(isReport(place.report('b.json')), JSON.stringify(isReport.errors));

  // Even if the model that gave the scores is gone.
  const kept = fs.readFileSync(place.in('one.csv'), 'utf8');
  fs.writeFileSync(place.in('kept.csv'), kept.replaceAll(one, 'older').replaceAll(/[0-9a-f]{64}/g, 'abc'));
  const earlier = await place.evaluate(clips.join('\n'), ...args, '--compare', place.in('kept.csv'));
  assert.equal(earlier.status, 0, earlier.stderr);
  const again = place.report('b.json').comparison;
  assert.deepEqual(again, { ...comparison, id: 'older', fingerprint: 'abc' });

  // A list with scores is scored again only for the other model.
  const rescored = await runCli(
    ['evaluate', place.in('one.csv'), '--compare', other, '--report', place.in('c.json')],
    env,
  );
  assert.equal(rescored.status, 0, rescored.stderr);
  assert.equal(place.report('c.json').comparison?.auc?.other, comparison?.auc?.model);

  fs.writeFileSync(place.in('moved.csv'), kept.replaceAll('human-lj-a.flac', 'gone.flac'));
  const moved = await runCli(['evaluate', place.in('moved.csv'), '--compare', other], env);
  assert.equal(moved.status, 1);
  assert.match(moved.stdout, /\nCompared with model-two at 0\.5: 4 clips/);
  assert.match(moved.stderr, /1 of the rows for model-two could not be analysed\. The first: gone\.flac: /);

  for (const [name, text, message] of [
    ['bare.csv', 'path,label\nx.wav,spoof\n', /has no column score, as --scores writes it/],
    ['twice.csv', `${kept}${kept.split('\n')[1]}\n`, /twice\.csv has human-lj-a\.flac twice/],
    [
      'trials.csv',
      'enrolment,sample,label,score\na,b,target,1\n',
      /is a list of verification, not of detection/,
    ],
  ] as const) {
    fs.writeFileSync(place.in(name), text);
    const refused = await runCli(['evaluate', place.in('one.csv'), '--compare', place.in(name)], env);
    assert.match(refused.stderr, message);
    assert.equal(refused.status, 1);
  }
});

test('scores of another calibration, of several models or of unknown origin are refused', async (t) => {
  const place = workplace(t);
  const scored = (header: string, ...rows: string[]) => place.evaluate([header, ...rows].join('\n'));
  const columns = 'path,label,score,model,model_fingerprint';
  const other = await scored(columns, `a.wav,spoof,0.9,${fast},${'0'.repeat(64)}`);
  assert.match(
    other.stderr,
    /the recipe or the calibration of detector-small-2026-11-25 changed after these scores/,
  );
  const several = await scored(columns, `a.wav,spoof,0.9,${fast},x`, 'b.wav,spoof,0.9,other,x');
  assert.match(several.stderr, /scores come from several models: detector-small-2026-11-25, other/);
  const unknown = await scored('path,label,score', 'a.wav,spoof,0.9');
  assert.match(unknown.stderr, /needs the columns model and model_fingerprint/);
  assert.deepEqual([other.status, several.status, unknown.status], [1, 1, 1]);
});

test('options without effect on a list with scores are refused', async (t) => {
  const place = workplace(t);
  const { models } = await loadManifest(shippedModelsDir);
  const fingerprint = scoreFingerprintOf(models.find(({ id }) => id === fast) ?? assert.fail());
  const list = `path,label,score,model,model_fingerprint\na.wav,spoof,0.9,${fast},${fingerprint}\n`;
  for (const [args, message] of [
    [
      ['--model', 'detector-medium-2026-11-25'],
      /scores of the list come from detector-small-2026-11-25, not from/,
    ],
    [['--silence-threshold', '30'], /--silence-threshold has no effect\. To score the files again, rename/],
  ] as const) {
    const { status, stderr } = await place.evaluate(list, ...args);
    assert.match(stderr, message);
    assert.equal(status, 1);
  }
  const alias = await place.evaluate(list, '--model', 'apollo-4-2025-10-20');
  assert.equal(alias.status, 0, alias.stderr);
});

test('conditions, groups, threshold and silence threshold are those that are asked for', async (t) => {
  const place = workplace(t);
  const wanted = ['--where', 'source=lj', '--where', 'source=vctk', '--group-by', 'language,duration'];
  const { status, stderr } = await place.evaluate(
    clips.join('\n'),
    ...wanted,
    ...[
      '--model',
      fast,
      '--threshold',
      '0',
      '--silence-threshold',
      '100',
      '--report',
      place.in('report.json'),
    ],
  );
  assert.equal(status, 0, stderr);
  const report = place.report('report.json');
  assert.deepEqual(report.list.where, ['source=lj', 'source=vctk']);
  assert.deepEqual([report.list.rows, report.counts.positive, report.counts.negative], [4, 1, 3]);
  assert.deepEqual([...new Set(report.groups.map(({ column }) => column))], ['language', 'duration']);
  assert.equal(report.at_threshold.fpr?.value, 1, 'every score reaches 0');
  assert.equal(report.silence_threshold, 100);
});

describe('verification', () => {
  const trials = [
    'enrolment,sample,label,speaker',
    'human-vctk-p226-a.opus,human-vctk-p226-b.opus,target,p226',
    'human-vctk-p226-a.opus,human-vctk-p225-c.opus,nontarget,p226',
    'human-vctk-p225-a.opus;human-vctk-p225-b.opus,human-vctk-p225-c.opus,target,p225',
    'human-vctk-p225-a.opus;human-vctk-p225-b.opus,human-lj-b.flac,nontarget,p225',
  ];

  /** The shipped speaker model beside a detector that takes every voice for human. */
  function modelsFolder(t: TestContext): string {
    const { models } = JSON.parse(
      fs.readFileSync(path.join(shippedModelsDir, 'manifest.json'), 'utf8'),
    ) as Manifest;
    const entry = models.find((model) => model.task === 'speaker');
    assert.ok(entry?.task === 'speaker');
    const file = fs.readFileSync(path.join(shippedModelsDir, entry.file));
    return writeModels(temporaryFolder(t), [{ entry, file }], -30);
  }

  test('similarities are those of enroll and verify, also of an enrolment of several files', async (t) => {
    const env = { VERAVOX_MODELS_DIR: modelsFolder(t) };
    const place = workplace(t, env);
    const outputs = ['--scores', place.in('scores.csv'), '--report', place.in('report.json')];
    const { status, stdout, stderr } = await place.evaluate(trials.join('\n'), ...outputs);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /2 nontarget, 2 target trials\n[\s\S]*strangers accepted[\s\S]*\n5 files in /);
    const rows = fs.readFileSync(place.in('scores.csv'), 'utf8').trimEnd().split('\n').slice(1);
    const scores = rows.map((row) => Number(row.split(',')[4]));

    const { decode } = loadAddon();
    const parts = ['a', 'b'].map((name) => decode(fs.readFileSync(place.in(`human-vctk-p225-${name}.opus`))));
    const joined = new Float32Array(parts.reduce((sum, { samples }) => sum + samples.length, 0));
    joined.set(parts[0]?.samples ?? []);
    joined.set(parts[1]?.samples ?? [], parts[0]?.samples.length);
    fs.writeFileSync(place.in('joined.wav'), monoWav(joined, parts[0]?.sampleRateHz ?? 0));

    const similarity = async (enrolment: string, sample: string): Promise<number> => {
      const enrolled = await runCli(['enroll', place.in(enrolment)], env);
      fs.writeFileSync(place.in('vector.json'), enrolled.stdout);
      const verified = await runCli(
        ['verify', place.in(sample), '--vector', place.in('vector.json'), '--json'],
        env,
      );
      return JSON.parse(verified.stdout).similarity_score;
    };
    assert.equal(scores[0], await similarity('human-vctk-p226-a.opus', 'human-vctk-p226-b.opus'));
    // The file for both parts has 16 bits per sample, the parts joined in memory more.
    const ofJoined = await similarity('joined.wav', 'human-vctk-p225-c.opus');
    assert.ok(Math.abs((scores[2] ?? 0) - ofJoined) < 1e-3, `${scores[2]} ${ofJoined}`);

    const report = place.report('report.json');
    assert.equal(report.overall.eer?.value, 0);
    assert.deepEqual([report.counts.positive_units, report.counts.negative_units], [2, 2]);
    assert.equal(report.overall.eer_groups_alike, null, 'the list names neither systems nor sources');
    assert.deepEqual(
      report.overall.min_dcf?.map(({ prior }) => prior),
      [0.01, 0.05],
    );
    assert.equal(report.silence_threshold, null);
  });

  test('enrolments and samples need what enrol and verify need, and a trial says which of them failed', async (t) => {
    const place = workplace(t);
    const list = [
      ...trials.slice(0, 3),
      'human-lj-b.flac,gone.wav,target,lj',
      'human-lj-a.flac;gone.wav,human-lj-b.flac,target,lj',
    ];
    const { status } = await place.evaluate(list.join('\n'), '--report', place.in('report.json'));
    assert.equal(status, 1);
    const { failures, counts } = place.report('report.json');
    assert.equal(counts.failed, 2);
    const messages = failures.flatMap(({ files }) => files.map(({ message }) => message));
    assert.match(messages[0] ?? '', /^enrolment: The audio is 5\.533 s long; at least 10 s are required\.$/);
    assert.equal(messages[1], 'enrolment: There is no such file or folder.');
  });
});
