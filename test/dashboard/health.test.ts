// SPDX-License-Identifier: Apache-2.0
//
// The health view in a browser, on a server with some history.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AdminModelList } from '../../client/src/index.js';
import { readManifest } from '../../src/analysis/models/manifest.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ScoreCounts } from '../../src/console/drift/score-counts.js';
import { ScoreTable } from '../../src/console/drift/score-table.js';
import { REFERENCE_FILES } from '../../src/console/drift/stability-index.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { type DashboardServer, startDashboardServer } from '../support/dashboard-server.js';
import { assertNoSidewaysScrolling } from '../support/page-facts.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';

const HOUR_MS = 3_600_000;
const detector = 'apollo-4-5-2026-03-26';
const speech = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
const figure = (value: number) => ({ value, interval_95: [value - 0.05, value + 0.05] });

const someModels: AdminModelList = {
  provider: 'cpu',
  fallback_reason: null,
  devices: [],
  models: [
    {
      id: detector,
      aliases: ['another-name'],
      task: 'detection',
      file: { name: 'detector.onnx', sha256: '1a'.repeat(32), bytes: 1_176_087 },
      score_fingerprint: '8'.repeat(64),
      licence: 'Apache-2.0',
      window_s: 5,
      calibration: { scale: 1.3, bias: 0.6 },
      operating_point: 0.692,
      operating_points: [{ name: 'one_percent', threshold: 0.93, usable: true }],
      abstention: null,
      known_answers: [{ file: 'a.flac', expected: [0.1], tolerance: null, holds: true }],
      figures: {
        measured_on: 'pages that training never saw',
        human_clips: 1065,
        generated_clips: 1439,
        eer: figure(0.2),
        auc: { value: 0.842, interval_95: null },
        eer_groups_alike: null,
        thresholds: [
          { threshold: 0.25, target_fpr: null, fpr: figure(0.4), fnr: figure(0.1) },
          { threshold: 0.75, target_fpr: 0.05, fpr: figure(0.1), fnr: figure(0.4) },
        ],
        det: [
          { threshold: 0, fpr: 0.9, fnr: 0.01 },
          { threshold: 0.25, fpr: 0.4, fnr: 0.1 },
          { threshold: 0.5, fpr: 0.2, fnr: 0.2 },
          { threshold: 0.75, fpr: 0.1, fnr: 0.4 },
          { threshold: 0.95, fpr: 0.01, fnr: 0.9 },
          { threshold: null, fpr: 0, fnr: 1 },
        ],
        verification: null,
      },
      has_card: false,
    },
  ],
};

interface ScoringServer extends DashboardServer {
  /** Counts scores of many files around a logit, this many hours ago. */
  addScores(files: number, logit: number, hoursAgo: number): Promise<void>;
}

async function startScoring(t: TestContext): Promise<ScoringServer> {
  const modelsDir = writeTinyModels(temporaryFolder(t), 'high');
  const server = await startDashboardServer(t, { config: { modelsDir } });
  const model = (await readManifest(modelsDir)).models.find(({ id }) => id === detector);
  if (model === undefined) throw new Error('The detector is not there.');
  const by = { model: detector, fingerprint: scoreFingerprintOf(model) };
  return {
    ...server,
    async addScores(files, logit, hoursAgo) {
      const counts = new ScoreCounts();
      for (let i = 0; i < files; i++) {
        const share = (i + 0.5) / files;
        const score = 1 / (1 + Math.exp(-(logit + Math.log(share / (1 - share)))));
        for (const kind of ['file', 'window'] as const)
          counts.countScore(by, kind, score, Date.now() - hoursAgo * HOUR_MS);
      }
      await new ScoreTable(server.database).add(counts);
    },
  };
}

test('the health view', async (view) => {
  const browser = await launchBrowser(view);

  await view.test('what requests do is seen without a reload, in sentences, plots and tables', async (t) => {
    const server = await startScoring(t);
    const client = await server.client('tests');
    const predict = () => client.predict(speech);
    for (let i = 0; i < 4; i++) await predict();
    await assert.rejects(() => client.predict(speech, { threshold: 7 }));
    const page = await openPage(t, browser, server.origin);
    await server.signIn(page, 'viewer', 'health');
    await page.getByLabel('Show the last').selectOption('5 minutes');
    const requests = page.getByRole('article', { name: 'Requests' });
    await requests.getByText('4 answered, 1 refused (4xx).').first().waitFor();
    await requests.locator('canvas').waitFor();
    await page.getByRole('row', { name: 'FIELD_INVALID 1' }).waitFor();
    await page
      .getByRole('article', { name: 'Analysis time' })
      .getByText(/Half took at most/)
      .waitFor();
    await predict();
    await requests.getByText('5 answered').first().waitFor();
    await requests.getByText('Requests as a table').click();
    const cells = await requests.getByRole('cell').allTextContents();
    assert.ok(
      cells.some((cell) => /^[\d.]+\/s$/.test(cell) && cell !== '0/s'),
      cells.join(' '),
    );
    const now = page.getByRole('region', { name: 'Now' });
    await now.getByText('ready', { exact: true }).waitFor();
    await now.getByText('SQLite').waitFor();
    // Also if no model has a known answer.
    await now.getByText('none wrong').waitFor();
    // The tiny models have no figures, which the page says.
    await page.getByText('No error rates are known for this model.').first().waitFor();
    // Actions that a viewer may not take are not offered.
    const drift = page.getByRole('region', { name: 'Score drift' });
    await drift.getByText('too few files').first().waitFor();
    assert.equal(await drift.getByRole('button', { name: /Use these hours/ }).count(), 0);

    await page.getByLabel('Update automatically').uncheck();
    await page.route('**/v1/admin/health*', (route) => route.abort());
    await page.getByRole('button', { name: 'Update now' }).click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    assert.ok(await requests.getByText('5 answered').first().isVisible());
    await page.unroute('**/v1/admin/health*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });

    await page.route('**/v1/admin/health*', async (route) => {
      const response = await route.fetch();
      const health = await response.json();
      health.now.database.state = 'read_only';
      await route.fulfill({ response, json: health });
    });
    await page.getByRole('button', { name: 'Update now' }).click();
    await now.getByText('read-only: nothing can be written').waitFor();
  });

  await view.test(
    'a change of scores is seen, and an administrator makes it the new reference',
    async (t) => {
      const server = await startScoring(t);
      await server.addScores(REFERENCE_FILES, -4, 48);
      await server.addScores(REFERENCE_FILES, -2.5, 0);
      const page = await openPage(t, browser, server.origin);
      await server.signIn(page, 'admin', 'health');
      const drift = page.getByRole('region', { name: 'Score drift' });
      const card = drift.getByRole('article', { name: detector });
      await card.getByText('large change', { exact: true }).waitFor();
      await drift.getByText('too few files').first().waitFor();
      await card.getByText('Scores as a table').click();
      assert.equal(await card.getByRole('row').count(), 19);
      await card.getByRole('button', { name: /Use these hours/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
      await card.getByText('stable', { exact: true }).waitFor();
    },
  );

  await view.test('a threshold is tried by keyboard; themes and widths are accessible', async (t) => {
    const server = await startScoring(t);
    await server.addScores(REFERENCE_FILES, -4, 48);
    await server.addScores(REFERENCE_FILES, -2.5, 0);
    const client = await server.client('tests');
    for (let i = 0; i < 20; i++) await client.predict(speech);
    const page = await openPage(t, browser, server.origin);
    await page.route('**/v1/admin/models', (route) => route.fulfill({ json: someModels }));
    await server.signIn(page, 'admin', 'health');
    const models = page.getByRole('region', { name: 'Models' });
    await models.getByText('about 20.0 % of human voices are called AI-generated').waitFor();
    await models.getByRole('slider', { name: 'Threshold' }).focus();
    await page.keyboard.press('Home');
    await models.getByText('At a threshold of 0.000, about 90.0 % of human voices').waitFor();
    await page.keyboard.press('End');
    await models
      .getByText('Not measured at a threshold of 1.000, only from 0.000 to 0.950.', { exact: true })
      .waitFor();
    await models.getByText('Measured thresholds').click();
    await models.getByRole('button', { name: '0.750' }).click();
    await models
      .getByText('about 10.0 % of human voices are called AI-generated, and 40.0 % of AI-generated')
      .waitFor();
    await page.getByText('large change', { exact: true }).waitFor();
    await page.getByText('20 answered').first().waitFor();
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.locator(`html[data-theme=${theme}]`).waitFor();
      await assertAccessible(page);
      await keepPicture(page, 'health', theme);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await assertNoSidewaysScrolling(page);
    await assertAccessible(page);
  });
});
