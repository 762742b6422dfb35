// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { groupDrawings, overallDrawings } from '../../src/evaluation/drawings/drawings.js';
import { reportPage } from '../../src/evaluation/drawings/report-page.js';
import { svgFile } from '../../src/evaluation/drawings/svg.js';
import { defaultBootstrap } from '../../src/evaluation/figures/bootstrap.js';
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import type { Report } from '../../src/evaluation/figures/report.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';

const hostile = `<script>alert("1")</script>&'`;

/** @param distance between the classes, in twentieths of the scale */
function reportOf(count: number, distance: number, name = 'en'): Report {
  const random = new SeededRandom(5);
  const samples = Array.from({ length: count }, (_, i): Sample => {
    const isPositive = i % 2 === 0;
    const score = Math.min(1, (random.below(100 - 5 * distance) + (isPositive ? 5 * distance : 0)) / 100);
    return { name: `${i}`, isPositive, score, durationS: 3, columns: { language: name, source: name } };
  });
  const failed = [{ name, isPositive: true, code: 'NO_SPEECH', message: name }];
  return {
    schema_version: 2,
    veravox_version: '0.0.0',
    created_at: '2026-11-21T12:00:00.000Z',
    list: { file: name, sha256: '0'.repeat(64), where: [name], rows: count },
    model: { id: 'm', sha256: '0'.repeat(64), fingerprint: '0'.repeat(64) },
    threshold_name: null,
    silence_threshold: 80,
    bootstrap: defaultBootstrap,
    run: null,
    comparison: null,
    ...evaluate(samples, failed, {
      task: 'detection',
      threshold: 0.5,
      groupColumns: ['language'],
      bootstrap: { rounds: 20, seed: 1 },
    }),
  };
}

const reports = {
  'of overlapping classes': reportOf(200, 6),
  'of classes that are apart': reportOf(40, 10),
  'of classes that are alike': reportOf(60, 0),
  'of two clips': reportOf(2, 6),
  'of one class': reportOf(1, 6),
};

for (const [what, report] of Object.entries(reports)) {
  test(`the plots ${what} stay within their frames and are numbers throughout`, () => {
    const drawings = [...overallDrawings(report), ...groupDrawings(report)];
    assert.equal(drawings.length, report.overall.eer === null ? 3 : 4);
    for (const drawing of drawings) {
      const text = svgFile(drawing);
      assert.doesNotMatch(text, /NaN|Infinity|undefined|null/, drawing.name);
      const { width, height } = drawing;
      for (const [, x, y] of text.matchAll(/<(?:text|circle) c?x="([^"]+)" c?y="([^"]+)"/g)) {
        assert.ok(Number(x) >= 0 && Number(x) <= width, `${drawing.name}: x ${x}`);
        assert.ok(Number(y) >= 0 && Number(y) <= height, `${drawing.name}: y ${y}`);
      }
    }
  });
}

test('the curve is drawn from its first to its last threshold, and the equal errors lie on it', () => {
  const { curve, overall } = reports['of overlapping classes'];
  assert.deepEqual([curve[0]?.fpr, curve[0]?.fnr], [1, 0]);
  assert.deepEqual([curve.at(-1)?.fpr, curve.at(-1)?.fnr], [0, 1]);
  const eer = overall.eer?.value ?? Number.NaN;
  const nearest = Math.min(
    ...curve.map(({ fpr, fnr }) => Math.max(Math.abs(fpr - eer), Math.abs(fnr - eer))),
  );
  assert.ok(nearest < 0.03, `${nearest}`);
});

describe('the page', () => {
  test('needs nothing from elsewhere and runs no script', () => {
    const page = reportPage(reports['of overlapping classes']);
    assert.doesNotMatch(page, /<script|<link|<img|<iframe|@import|url\(|\shref=|\ssrc=|\son\w+=/i);
    const addresses = page.match(/https?:[^"'<\s]+/g) ?? [];
    assert.deepEqual([...new Set(addresses)], ['http://www.w3.org/2000/svg']);
    assert.match(page, /prefers-color-scheme:dark/);
  });

  test('shows names from the list as text, whatever is in them', () => {
    const report = reportOf(20, 6, hostile);
    const page = reportPage(report);
    assert.doesNotMatch(page, /<script/);
    assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;'));
    for (const drawing of groupDrawings(report)) assert.doesNotMatch(svgFile(drawing), /<script/);
  });

  test('compares two models, and shows thresholds, wrong verdicts and why means are missing', () => {
    const report = reportOf(40, 6);
    const change = { model: 0.1, other: 0.25, value: 0.15, interval_95: [-0.05, 0.3] as const };
    const split = { only_model: 1, only_other: 9, p_value: 0.021484 };
    const comparison: Report['comparison'] = {
      id: hostile,
      fingerprint: '',
      threshold: 0.5,
      compared: 40,
      left_out: 0,
      why_no_intervals: null,
      eer: change,
      auc: change,
      fpr: change,
      fnr: null,
      mcnemar: { all: split, positive: split, negative: { ...split, p_value: 1e-9 } },
    };
    const page = reportPage({ ...report, comparison });
    assert.doesNotMatch(page, /<script/);
    assert.match(page, /<td>10\.0 %<\/td><td>25\.0 %<\/td><td>\+15\.0 %<\/td><td>-5\.0 % to \+30\.0 %<\/td>/);
    assert.match(page, /<td>1<\/td><td>9<\/td><td>0\.0215<\/td>/);
    assert.match(page, /<td>below 0\.0001<\/td>/);
    assert.match(page, /<h2>Thresholds<\/h2>/);
    assert.match(
      page,
      /Not given: a threshold for at most 0\.1 %, 1\.0 %, 2\.0 %, 5\.0 % or 10\.0 % human called spoofed \(a threshold needs at least 5 /,
    );
    assert.doesNotMatch(page, /<td>null/);
    assert.match(page, /<h2>Most confidently wrong<\/h2>/);
    assert.match(
      page,
      /Not given: mean AUC inside one source \(a mean needs at least 5 sources with both classes; the list has 1\)\./,
    );
  });

  test('says what has no score', () => {
    const page = reportPage(reports['of two clips']);
    assert.match(page, /and 1 without a score/);
    assert.match(page, /NO_SPEECH/);
  });
});
