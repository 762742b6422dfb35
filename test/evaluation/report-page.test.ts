// SPDX-License-Identifier: Apache-2.0
//
// The page and the plots of `veravox evaluate --html` and `--svg`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadOfflinePages } from '../../src/cli/offline-pages.js';
import { defaultBootstrap } from '../../src/evaluation/figures/bootstrap.js';
import { evaluate } from '../../src/evaluation/figures/evaluate.js';
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import type { Report } from '../../src/evaluation/figures/report.js';
import type { Sample } from '../../src/evaluation/figures/sample.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { assertNoSidewaysScrolling } from '../support/page-facts.js';
import { someReport } from '../support/some-report.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { reportPage, plotFiles } = await loadOfflinePages();

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
    const plots = plotFiles(report);
    assert.deepEqual(
      [...plots.keys()],
      [...(report.overall.eer === null ? [] : ['det']), 'scores', 'reliability'],
    );
    for (const [name, text] of plots) {
      execFileSync('python3', ['-c', 'import sys, xml.dom.minidom as x; x.parse(sys.stdin)'], {
        input: text,
      });
      assert.doesNotMatch(text, /NaN|Infinity|undefined|null/, name);
      const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(text) ?? [];
      let places = 0;
      for (const [, x, y] of text.matchAll(/<(?:text|circle)[^>]* c?x="([^"]+)" c?y="([^"]+)"/g)) {
        places++;
        assert.ok(Number(x) >= 0 && Number(x) <= Number(width), `${name}: x ${x}`);
        assert.ok(Number(y) >= 0 && Number(y) <= Number(height), `${name}: y ${y}`);
      }
      assert.ok(places > 10, `${name}: ${places} texts and points`);
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

/** The text without tags. */
const textOf = (page: string): string =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the page', () => {
  test('needs nothing from elsewhere and runs no script', () => {
    const page = reportPage(reports['of overlapping classes']);
    assert.doesNotMatch(page, /<script|<link|<img|<iframe|@import|\shref=|\ssrc=|\sstyle=|\son\w+=/i);
    assert.doesNotMatch(page, /url\((?!#)/);
    const addresses = page.match(/https?:[^"'<\s]+/g) ?? [];
    assert.deepEqual([...new Set(addresses)], ['http://www.w3.org/2000/svg']);
    assert.match(page, /prefers-color-scheme:dark/);
    assert.match(
      page,
      /"default-src &#39;none&#39;; style-src &#39;sha256-|"default-src 'none'; style-src 'sha256-/,
    );
    assert.doesNotMatch(page, /script-src|unsafe/);
  });

  test('shows names from the list as text, whatever is in them', () => {
    const report = reportOf(20, 6, hostile);
    const page = reportPage(report);
    assert.doesNotMatch(page, /<script/);
    assert.ok(page.includes(`>&lt;script>alert(&quot;1&quot;)&lt;/script>&amp;'</bdi>`));
    const named = { ...report, classes: { positive: hostile, negative: hostile } } as unknown as Report;
    for (const [name, text] of plotFiles(named)) assert.doesNotMatch(text, /<script/, name);
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
    const text = textOf(page);
    for (const shown of [
      ' 10.0 % 25.0 % +15.0 % -5.0 % to +30.0 % ',
      ' 1 9 0.0215 ',
      ' below 0.0001 ',
      ' Thresholds ',
      ' Not given: 0.1 % human called spoofed (a threshold needs at least 5 ',
      ' Not given: 10.0 % human called spoofed (a threshold needs at least 5 ',
      ' Most confidently wrong ',
      ' mean AUC inside one source ( a mean needs at least 5 sources with both classes; the list has 1 ).',
      ' Inside one source Source ',
      ' Groups with both classes, against each other ',
    ]) {
      assert.ok(text.includes(shown), shown);
    }
    assert.doesNotMatch(text, / null /);
  });

  test('has all groups and rows without a score', () => {
    const report = reports['of two clips'];
    const [group] = report.groups;
    const [failure] = report.failures;
    assert.ok(group && failure);
    const groups = Array.from({ length: 90 }, (_, i) => ({ ...group, value: `group ${i}.` }));
    const files = Array.from({ length: 300 }, (_, i) => ({ name: `file ${i}.`, message: 'No speech.' }));
    const text = textOf(reportPage({ ...report, groups, failures: [{ ...failure, files }] }));
    assert.ok(text.includes(', 1 without a score'));
    assert.ok(text.includes(' NO_SPEECH (300)'));
    for (const { value } of groups) assert.ok(text.includes(` ${value} `), value);
    for (const { name } of files) assert.ok(text.includes(` ${name} `), name);
  });

  test('is read from a file, without a network or scripts, in both themes and on narrow screens', async (t) => {
    const folder = temporaryFolder(t);
    const file = path.join(folder, 'report.html');
    fs.writeFileSync(file, reportPage(someReport(400)));
    const browser = await launchBrowser(t);
    const page = await openPage(t, browser, pathToFileURL(folder).href);
    await page.goto(pathToFileURL(file).href);
    for (const name of [/^Detection error trade-off\./, /^Scores of the two/, /^Reliability of the/]) {
      await page.getByRole('img', { name }).waitFor();
    }
    assert.equal(await page.getByRole('button').count(), 0, 'controls would do nothing');
    const papers = new Set<unknown>();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      papers.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      await assertAccessible(page);
      await keepPicture(page, 'report-page', scheme);
    }
    assert.equal(papers.size, 2);
    await page.setViewportSize({ width: 360, height: 740 });
    await assertAccessible(page);
    await assertNoSidewaysScrolling(page);
  });
});
