// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { FileMatcher, filesNamedIn } from '../../../dashboard/src/logic/match-files.js';
import { rateRange, rateScale } from '../../../dashboard/src/logic/rate-scale.js';
import { columnsOf, ReportError, reportOf, rowsOf, signed } from '../../../dashboard/src/logic/report.js';
import { reportRules } from '../../../dashboard/src/logic/report-format.js';
import { problemOf } from '../../../dashboard/src/logic/rules.js';
import { probit } from '../../../src/evaluation/figures/probit.js';
import { reportSchema } from '../../../src/evaluation/figures/report-schema.js';
import { someReport } from '../../support/some-report.js';

const report = someReport(200);
const read = reportOf(JSON.stringify(report));

test('what the command writes is read as it is', () => {
  assert.deepEqual(reportOf(JSON.stringify(report)), JSON.parse(JSON.stringify(report)));
});

const refused: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'other text': ['path,label', /not JSON.*veravox evaluate/],
  'other JSON': ['[1]', /not a report/],
  null: ['null', /not a report/],
  'a report of another version': [
    JSON.stringify({ ...report, schema_version: 3 }),
    /version 3 .* shows version 2/,
  ],
  'a report with a part missing': [JSON.stringify({ ...report, counts: undefined }), /counts is missing/],
  'a number out of its range': [
    JSON.stringify({ ...report, curve: [...report.curve, { threshold: 0.1, fpr: 2, fnr: 0 }] }),
    /curve\[\d+\]\.fpr should be between 0 and 1/,
  ],
  'a number that is too large for a double': [
    JSON.stringify(report).replace(/"log_loss":[^,]+,/, '"log_loss":1e999,'),
    /log_loss should be a finite number/,
  ],
  'an interval of three': [
    JSON.stringify({ ...report, overall: { ...report.overall, auc: { value: 1, interval_95: [0, 1, 1] } } }),
    /overall\.auc\.interval_95 should have 2 entries/,
  ],
  'a text in place of a list': [JSON.stringify({ ...report, groups: 'x' }), /groups should be a list/],
  'members of a prototype': ['{"schema_version":2,"__proto__":{"task":"detection"}}', /is missing/],
};

for (const [name, [text, message]] of Object.entries(refused)) {
  test(`${name} is refused, and the message says why`, () => {
    assert.throws(
      () => reportOf(text),
      (error) => error instanceof ReportError && message.test(error.message),
    );
  });
}

test('rules find fault where a JSON Schema validator does', () => {
  const validate = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(reportSchema);
  const whole = JSON.parse(JSON.stringify(report));
  const wrongValues = [null, -1, 1.5, 'x', [], {}, true];
  /** Every place of the report to a certain depth, but only the first of each list. */
  const places = (value: unknown, at: string[]): string[][] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value)
          .slice(0, Array.isArray(value) ? 1 : undefined)
          .flatMap(([name, inner]) => [[...at, name], ...places(inner, [...at, name])]);
  let faults = 0;
  for (const place of places(whole, [])) {
    const holder = place.slice(0, -1).reduce((inner, name) => inner[name], whole);
    const name = place.at(-1) ?? '';
    const right = holder[name];
    for (const wrong of wrongValues) {
      holder[name] = wrong;
      const isRight = validate(whole);
      assert.equal(problemOf(whole, reportRules) === undefined, isRight, `${place.join('.')}: ${wrong}`);
      if (!isRight) faults++;
    }
    holder[name] = right;
  }
  assert.ok(faults > 1000, `${faults}`);
});

test('groups come with the largest share of errors first', () => {
  assert.deepEqual(columnsOf(read), ['language', 'system', 'source']);
  const shares = rowsOf(read, 'language').map(({ members }) => members.errors.value);
  assert.equal(shares.length, 4);
  assert.deepEqual(
    shares,
    shares.toSorted((a, b) => b - a),
  );
  assert.equal(signed(-0.5, String), '-0.5');
  assert.equal(signed(0.5, String), '+0.5');
});

test('rates lie on the scale of normal quantiles', () => {
  const { place, ticks } = rateScale(0.01, 0.6);
  for (const rate of [0.01, 0.05, 0.3, 0.5, 0.6]) {
    const expected = (probit(rate) - probit(0.01)) / (probit(0.6) - probit(0.01));
    assert.ok(Math.abs(place(rate) - expected) < 1e-9, `${rate}`);
  }
  assert.ok(Number.isFinite(place(0)) && Number.isFinite(place(1)));
  assert.deepEqual(
    ticks.map(({ text }) => text),
    ['1 %', '5 %', '10 %', '20 %', '40 %', '60 %'],
  );
  assert.deepEqual(rateRange([{ fpr: 0.3, fnr: 0.003 }], 0.1), [0.002, 0.6]);
  assert.deepEqual(rateRange([], 0.4), [0.1, 0.95]);
});

test('files are matched by the longest common end of their paths', () => {
  const matcher = new FileMatcher(
    ['corpus/a/1.wav', 'corpus/b/1.wav', 'corpus/b/2.wav', 'e\u0301.wav'].map(
      (path) => [path, path] as const,
    ),
  );
  assert.equal(matcher.find('b/1.wav').item, 'corpus/b/1.wav');
  assert.equal(matcher.find('..\\a\\1.wav').item, 'corpus/a/1.wav');
  assert.equal(matcher.find('/else/where/2.wav').item, 'corpus/b/2.wav');
  assert.equal(matcher.find('\u00e9.wav').item, 'e\u0301.wav');
  assert.deepEqual(matcher.find('1.wav'), { name: '1.wav', item: undefined, isAmbiguous: true });
  assert.deepEqual(matcher.find('3.wav'), { name: '3.wav', item: undefined, isAmbiguous: false });
  assert.equal(matcher.find('').item, undefined);
});

test('a trial names the files of its two sides', () => {
  assert.deepEqual(filesNamedIn('a.wav;b.wav | c.wav', true), ['a.wav', 'b.wav', 'c.wav']);
  assert.deepEqual(filesNamedIn('a | b;c.wav', false), ['a | b;c.wav']);
});
