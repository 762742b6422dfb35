// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import type { Findings } from '../../src/evaluation/figures/report.js';
import { durationBucket, type Sample, unitOf } from '../../src/evaluation/figures/sample.js';

type Row = readonly [label: 'spoof' | 'bonafide', score: number, columns?: Readonly<Record<string, string>>];

const clips = (rows: readonly Row[]): Sample[] =>
  rows.map(([label, score, columns = {}], i) => ({
    name: `${i}.wav`,
    isPositive: label === 'spoof',
    score,
    durationS: 3,
    columns: { label, ...columns },
  }));

const found = (rows: readonly Row[], groupColumns: readonly string[] = [], threshold = 0.5): Findings =>
  evaluate(clips(rows), [], { task: 'detection', threshold, groupColumns });

test('a list of one class has shares of errors, and no figure that needs two', () => {
  const findings = found([
    ['spoof', 0.9],
    ['spoof', 0.2],
    ['spoof', 0.5],
  ]);
  assert.deepEqual(findings.overall, {
    eer: null,
    auc: null,
    eer_groups_alike: null,
    auc_groups_alike: null,
    groups_alike_why_not: 'a mean needs at least 5 systems of generated clips; the list has 0',
    min_dcf: null,
  });
  assert.equal(findings.at_threshold.fpr, null);
  assert.deepEqual([findings.at_threshold.fnr?.count, findings.at_threshold.fnr?.of], [1, 3]);
  assert.deepEqual(findings.curve, []);
  assert.equal(findings.inside_one_source, null);
});

test('a score on the threshold counts as spoofed, as in a verdict', () => {
  const { at_threshold } = found([
    ['spoof', 0.5],
    ['bonafide', 0.5],
    ['bonafide', 0.499999],
  ]);
  assert.equal(at_threshold.fnr?.count, 0);
  assert.equal(at_threshold.fpr?.count, 1);
  assert.equal(at_threshold.accuracy.count, 2);
});

test('systems and sources count alike, however many clips they have', () => {
  // One system that is always found and four that are never found: a fifth of the systems, but 16 of 20
  // clips.
  const rows = (humanSources: number): Row[] => [
    ...Array.from({ length: 16 }, (): Row => ['spoof', 0.9, { system: 'easy' }]),
    ...['a', 'b', 'c', 'd'].map((system): Row => ['spoof', 0.1, { system }]),
    ...Array.from({ length: humanSources }, (_, i): Row => ['bonafide', 0.4, { source: `${i}` }]),
  ];
  const findings = found(rows(5));
  assert.equal(findings.overall.auc?.value, 0.8);
  assert.equal(findings.overall.auc_groups_alike?.value, 0.2);
  assert.equal(findings.overall.groups_alike_why_not, null);
  assert.deepEqual([findings.counts.positive_units, findings.counts.negative_units], [5, 5]);

  const unnamed: Row = ['bonafide', 0.4];
  for (const few of [rows(4), [...rows(4), unnamed]]) {
    const { overall } = found(few);
    assert.deepEqual([overall.eer_groups_alike, overall.auc_groups_alike], [null, null]);
    assert.equal(
      overall.groups_alike_why_not,
      'a mean needs at least 5 sources of human clips; the list has 4',
    );
  }
});

test('inside one source only sources with both classes count, each as much as the others', () => {
  const findings = found([
    ['spoof', 0.9, { source: 'right', system: 's' }],
    ['bonafide', 0.1, { source: 'right' }],
    ['spoof', 0.3, { source: 'wrong', system: 't' }],
    ['bonafide', 0.4, { source: 'wrong' }],
    ['bonafide', 0.5, { source: 'wrong' }],
    ['bonafide', 0.99, { source: 'human only' }],
    ['spoof', 0.01, { system: 'u' }],
  ]);
  assert.equal(findings.inside_one_source?.value, null);
  assert.equal(
    findings.inside_one_source?.why_not,
    'a mean needs at least 5 sources with both classes; the list has 2',
  );
  assert.deepEqual(findings.inside_one_source?.sources, [
    { source: 'right', positive: 1, negative: 1, auc: 1 },
    { source: 'wrong', positive: 1, negative: 2, auc: 0 },
  ]);
});

test('with five sources that have both classes there is a mean inside one', () => {
  const findings = found(
    ['a', 'b', 'c', 'd', 'e'].flatMap((source): Row[] => [
      ['spoof', source === 'e' ? 0.2 : 0.9, { source, system: source }],
      ['bonafide', 0.3, { source }],
    ]),
  );
  assert.equal(findings.inside_one_source?.value, 0.8);
  assert.equal(findings.inside_one_source?.why_not, null);
  assert.ok((findings.inside_one_source?.interval_95?.[0] ?? 1) < 0.8);
});

test('a group is judged against all of the other class, and by itself where it has both', () => {
  const { groups } = found(
    [
      ['spoof', 0.9, { language: 'en' }],
      ['spoof', 0.2, { language: 'de' }],
      ['bonafide', 0.1, { language: 'de' }],
      // The measured duration counts.
      ['bonafide', 0.6, { language: '', duration: '2.71' }],
    ],
    ['language', 'duration'],
  );
  const [german, english, duration, ...others] = groups;
  assert.deepEqual(others, []);
  assert.deepEqual([german?.value, english?.value, duration?.value], ['de', 'en', '2 to 5 s']);
  assert.deepEqual([german?.positive?.count, german?.positive?.errors.count], [1, 1]);
  assert.equal(german?.positive?.auc, 0.5, 'above one of the two human clips');
  assert.deepEqual(german?.within, { eer: 0, auc: 1 });
  assert.equal(english?.negative, null);
  assert.equal(english?.within, null);
  assert.deepEqual([duration?.positive?.count, duration?.negative?.count], [2, 2]);
});

test('what has no score is counted by its code and listed, and is in no figure', () => {
  const failure = (name: string, code: string, isPositive: boolean) => ({
    name,
    code,
    isPositive,
    message: `${name}!`,
  });
  const failed = [
    failure('a', 'NO_SPEECH', true),
    failure('b', 'AUDIO_TOO_SHORT', true),
    failure('c', 'AUDIO_TOO_SHORT', false),
  ];
  const samples = clips([
    ['spoof', 0.9],
    ['bonafide', 0.1],
  ]);
  const { counts, failures } = evaluate(samples, failed, {
    task: 'detection',
    threshold: 0.5,
    groupColumns: [],
  });
  assert.deepEqual([counts.positive, counts.negative, counts.failed], [1, 1, 3]);
  assert.deepEqual(failures, [
    {
      code: 'AUDIO_TOO_SHORT',
      positive: 1,
      negative: 1,
      files: [
        { name: 'b', message: 'b!' },
        { name: 'c', message: 'c!' },
      ],
    },
    { code: 'NO_SPEECH', positive: 1, negative: 0, files: [{ name: 'a', message: 'a!' }] },
  ]);
});

test('the same samples give the same findings, intervals included', () => {
  const rows = Array.from(
    { length: 60 },
    (_, i): Row => [
      i % 3 === 0 ? 'spoof' : 'bonafide',
      ((i * 37) % 100) / 100,
      { system: i % 3 === 0 ? `s${i % 4}` : '', speaker: `p${i % 7}`, source: `q${i % 2}` },
    ],
  );
  assert.deepEqual(found(rows, ['source']), found(rows, ['source']));
});

test('the unit of an interval is the generator, the speaker within a source, the source, or the clip', () => {
  const unit = (label: 'spoof' | 'bonafide', columns: Readonly<Record<string, string>>): string =>
    unitOf('detection', clips([[label, 0.5, columns]])[0] as Sample);
  assert.equal(unit('spoof', { system: 's', speaker: 'p', source: 'q' }), 'system s');
  assert.equal(unit('bonafide', { system: '', speaker: 'p', source: 'q' }), 'speaker p of q');
  assert.equal(unit('bonafide', { speaker: '', source: 'q' }), 'source q');
  assert.equal(unit('spoof', { source: 'q' }), 'source q');
  assert.equal(unit('spoof', {}), 'clip 0.wav');
});

test('durations fall into buckets whose lower border belongs to them', () => {
  const buckets = [0.5, 2, 4.999, 5, 29.9, 30, 4000].map(durationBucket);
  const expected = [
    'under 2 s',
    '2 to 5 s',
    '2 to 5 s',
    '5 to 10 s',
    '10 to 30 s',
    '30 s and more',
    '30 s and more',
  ];
  assert.deepEqual(buckets, expected);
});
