// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListError, parseCondition, parseList } from '../../src/evaluation/figures/labelled-list.js';

const refusals: readonly [what: string, text: string, message: RegExp][] = [
  ['an empty file', '', /header with path, label or enrolment, sample, label but received none/],
  ['a header without labels', 'path,kind\na.wav,spoof\n', /but received path, kind/],
  ['a column twice', 'path,label,label\na.wav,spoof,spoof\n', /column label appears twice/],
  ['an unknown label', 'path,label\na.wav,spoof\nb.wav,fake\n', /Line 3: .* for label but received "fake"/],
  [
    'a label of the other task',
    'path,label\na.wav,target\n',
    /Line 2: expected spoof or spoofed or bonafide/,
  ],
  ['a row without a path', 'path,label\n,spoof\n', /Line 2: the column path is empty/],
  ['a row that is too short', 'path,label,source\na.wav,spoof\n', /not CSV: .*line 2/i],
  ['a quote that does not end', 'path,label\n"a.wav,spoof\n', /not CSV: /],
  ['a score above 1', 'path,label,score\na.wav,spoof,1.5\n', /Line 2: .* for score but received "1\.5"/],
  ['a score that is no number', 'path,label,score\na.wav,spoof,high\n', /received "high"/],
];
for (const [what, text, message] of refusals) {
  test(`${what} is refused, and the message says where`, () => {
    assert.throws(
      () => parseList(text),
      (error) => error instanceof ListError && message.test(error.message),
    );
  });
}

test('all wrong lines are named, up to twenty, and the rest is counted', () => {
  const wrong = (lines: number): string => {
    const rows = Array.from({ length: lines }, (_, i) => (i === 1 ? ',fake' : 'a.wav,fake'));
    try {
      parseList(['path,label', 'a.wav,spoof', ...rows].join('\n'));
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const three = wrong(3).split('\n');
  assert.deepEqual(
    three.map((line) => /^Line \d+: (the column path|expected)/.exec(line)?.[0]),
    ['Line 3: expected', 'Line 4: the column path', 'Line 4: expected', 'Line 5: expected'],
  );
  const many = wrong(100).split('\n');
  assert.deepEqual([many.length, many.at(-1)], [21, 'And 81 more.']);
});

test('a label may be the word of an answer', () => {
  const { samples } = parseList('path,label\na.wav,spoofed\nb.wav,spoof\nc.wav,bonafide\n');
  assert.deepEqual(
    samples.map(({ isPositive }) => isPositive),
    [true, true, false],
  );
});

test('a condition on a column that is not there is refused', () => {
  const list = 'path,label,split\na.wav,spoof,valid\n';
  assert.throws(
    () => parseList(list, [{ column: 'splt', value: 'valid' }]),
    /no column splt .* path, label, split/,
  );
});

test('clips keep what their columns say, quoted or not, whatever the line ends', () => {
  const list = parseList(
    '\ufeffpath,label, source \r\n"a ""b"", c.wav",spoof,x\r\n\r\nd.wav,bonafide,"two\nlines"\r\n',
  );
  assert.equal(list.task, 'detection');
  assert.deepEqual(list.columns, ['path', 'label', 'source']);
  assert.equal(list.isScored, false);
  assert.deepEqual(
    list.samples.map(({ isPositive, columns, score }) => [isPositive, columns.path, columns.source, score]),
    [
      [true, 'a "b", c.wav', 'x', undefined],
      [false, 'd.wav', 'two\nlines', undefined],
    ],
  );
});

test('trials are known by their columns', () => {
  const { task, samples } = parseList(
    'enrolment,sample,label\na.wav;b.wav,c.wav,target\nd.wav,c.wav,nontarget\n',
  );
  assert.equal(task, 'verification');
  assert.deepEqual(
    samples.map(({ isPositive }) => isPositive),
    [true, false],
  );
});

test('scores may be missing in some rows', () => {
  const { isScored, samples } = parseList('path,label,score\na.wav,spoof,0.25\nb.wav,spoof,\n');
  assert.ok(isScored);
  assert.deepEqual(
    samples.map(({ score }) => score),
    [0.25, undefined],
  );
});

test('conditions on one column are alternatives, on several all hold; other rows need not even be right', () => {
  const text =
    'path,label,split,language\na,spoof,valid,en\nb,spoof,train,en\nc,spoof,test,de\nd,??,old,en\n';
  const paths = (...conditions: string[]) =>
    parseList(
      text,
      conditions.map((condition) => parseCondition(condition) ?? assert.fail(condition)),
    ).samples.map(({ columns }) => columns.path);
  assert.deepEqual(paths('split=valid', 'split=test', 'split=train'), ['a', 'b', 'c']);
  assert.deepEqual(paths('split=valid', 'split=test', 'language=de'), ['c']);
  assert.deepEqual(paths('split=none'), []);
  assert.equal(parseCondition('split'), undefined);
  assert.equal(parseCondition('=valid'), undefined);
  assert.deepEqual(parseCondition('path=a=b'), { column: 'path', value: 'a=b' });
});
