// SPDX-License-Identifier: Apache-2.0
//
// The playground: from a file to a verdict over time.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { skippedWindows, someAnalysis } from '../support/analyser-double.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { openPlayground, someWav, startPlaygroundServer } from '../support/playground.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { API_KEY } from '../support/test-server.js';

const run = promisify(execFile);

/** 60 s: two windows above 0.5, one skipped. */
const minute: Analysis = {
  ...someAnalysis,
  durationS: 60,
  windows: [0.1, 0.25, 0.62, 0.71, 0.3, 0.15, 0.22, 0.05, 0.4, 0.33, 0.18].map((score, i) => ({
    startS: i * 5,
    endS: i * 5 + 5,
    scores: [score],
  })),
  closerWindows: Array.from({ length: 14 }, (_, i) => ({
    startS: 7 + i,
    endS: 9.5 + i,
    scores: [i >= 3 && i <= 10 ? 0.98 : 0.1],
  })),
  skipped: [skippedWindows(97.5, [55, 60])],
  uncertainBelowConfidence: 0.15,
};

const hostileName = `<img src=x onerror=alert(1)> "it's" $(touch pwned)\u202e.wav`;

const recording = path.join(packageDir, 'test/fixtures/ai-kokoro.flac');

const chooseFile = (page: Page, name: string, buffer: Buffer, mimeType = 'audio/wav'): Promise<void> =>
  page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer });

const textOf = async (locator: Locator): Promise<string> => (await locator.textContent()) ?? '';

async function analyse(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Analyse' }).click();
}

test('the playground', async (t) => {
  const server = await startPlaygroundServer(t, { maxPredictBytes: 1_000_000 });
  const { origin, analyser } = server;
  const browser = await launchBrowser(t);
  analyser.answer = ({ model }) => ({
    ...minute,
    modelId: model,
    windows: minute.windows.map(({ scores, ...window }, i) => ({
      ...window,
      scores: model.startsWith('apollo-4-2026') && i === 4 ? [0.9] : scores,
    })),
  });

  await t.test('a file gets a verdict, a timeline, its figures and its code', async (t) => {
    const page = await openPlayground(t, browser, origin);
    await assertAccessible(page);
    const drop = page.locator('.file-drop');
    await drop.getByText('or drop it anywhere on the page').waitFor();
    await chooseFile(page, hostileName, someWav(60));
    await drop.getByText('Chosen: <img src=x').waitFor();
    await page.locator('input[type=file]').focus();
    const outline = "getComputedStyle(document.querySelector('.file-drop label')).outlineStyle";
    assert.equal(await page.evaluate(outline), 'solid', 'the focus is seen');
    await analyse(page);
    const result = page.getByRole('region', { name: 'Result' });
    const article = result.getByRole('article');
    const verdict = article.locator('.global');
    // Green above two windows that look AI-generated would wrongly reassure the reader.
    await verdict.getByText('human, but 8 s look AI-generated').waitFor();
    assert.equal(await verdict.locator('.verdict.uncertain').textContent(), 'Mixed');
    assert.match(await textOf(article), /In the API: bonafide, reason mixed_content/);
    assert.match(await textOf(article), /A part sounds AI-generated, and the rest does not/);
    await result.getByRole('heading', { name: '<img src=x' }).waitFor();
    assert.match(await textOf(article), /apollo-4-5-2026-03-26.*Threshold0\.5/);
    const focused = 'document.activeElement.className';
    assert.equal(await page.evaluate(focused), 'result-heading', 'the result is shown');
    assert.match(await textOf(article), /Not analysed from 55 s to 60 s/);
    assert.match(await textOf(article), /inference the model/);

    await t.test('the threshold is moved without another request', async () => {
      const slider = result.getByRole('slider', { name: 'Threshold' });
      const before = analyser.requests.length;
      await slider.fill('0.2');
      await verdict.getByText('AI-generated, but 20 s look human').waitFor();
      assert.match(await textOf(result), /7 of 11 windows look AI-generated at this threshold/);
      await result.getByRole('button', { name: 'Reset to 0.5' }).click();
      await verdict.getByText('human, but 8 s').waitFor();
      assert.equal(analyser.requests.length, before);
    });

    await t.test('windows are chosen by keyboard and by mouse, and played', async () => {
      const timeline = article.getByRole('slider', { name: 'Window' });
      await timeline.focus();
      for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
      const said = article.locator('[aria-live=polite].chosen');
      await said.getByText('Window 3 of 11, 0:10 to 0:15: score 0.620, AI-generated').waitFor();
      await page.keyboard.press('+');
      await page.keyboard.press('Space');
      await article.getByRole('button', { name: 'Stop' }).waitFor();
      await page.keyboard.press('Space');
      await article.getByRole('button', { name: 'Play window' }).waitFor();
      await page.keyboard.press('0');
      const box = await timeline.boundingBox();
      assert.ok(box);
      await page.mouse.click(box.x + box.width - 9, box.y + 100);
      await said.getByText('Window 11 of 11').waitFor();
    });

    await t.test('the same windows are in a table', async () => {
      await article.getByText('11 windows as a table').click();
      const human = article.getByRole('row').filter({ hasText: 'human' });
      await human.last().waitFor();
      assert.equal(await human.count(), 9);
      await article.getByLabel('Windows in the table').selectOption('spoofed');
      await article.getByRole('button', { name: '0:15' }).click();
      await article.getByText('Window 4 of 11').waitFor();
    });

    await t.test('the answer is downloaded as JSON', async () => {
      const downloading = page.waitForEvent('download');
      await article.getByRole('button', { name: 'Download the answer' }).click();
      const file = await (await downloading).path();
      const report = JSON.parse(fs.readFileSync(file, 'utf8'));
      assert.equal(report.answer.segments.length, 11);
      assert.deepEqual(
        [report.recording.name, report.model_id, report.threshold],
        [hostileName, 'apollo-4-5-2026-03-26', 0.5],
      );
    });

    await t.test('the command of the page gives the same verdict', async (t) => {
      const folder = temporaryFolder(t);
      fs.writeFileSync(path.join(folder, hostileName), someWav(60));
      const code = result.getByRole('figure', { name: 'The request in curl' }).locator('code');
      const command = (await textOf(code)).replace('YOUR_API_KEY', API_KEY);
      const { stdout } = await run('bash', ['-c', command], { cwd: folder });
      assert.equal(JSON.parse(stdout).global.result, 'bonafide');
      assert.deepEqual(fs.readdirSync(folder), [hostileName]);
    });

    await page.getByRole('button', { name: 'Zoom in' }).focus();
    await assertAccessible(page);
    await keepPicture(page, 'playground', 'light');
  });

  await t.test('two models are compared, on a phone and in the dark', async (t) => {
    const page = await openPlayground(t, browser, origin, { theme: 'dark', width: 360 });
    await chooseFile(page, 'call.wav', someWav(60));
    await page.getByText('Model, threshold, silence and channels').click();
    await page.getByLabel('Compare with').selectOption('apollo-4-2026-01-16');
    // A model is not compared with itself.
    await page.getByLabel('Model', { exact: true }).selectOption('apollo-4-2026-01-16');
    await page.getByLabel('Model', { exact: true }).selectOption('apollo-4-5-2026-03-26');
    assert.equal(await page.getByLabel('Compare with').inputValue(), '');
    await page.getByLabel('Compare with').selectOption('apollo-4-2026-01-16');
    await analyse(page);
    await page.getByText('The models disagree on 1 of 11 windows').waitFor();
    assert.equal(await page.getByRole('article').count(), 2);
    await page.getByRole('region', { name: 'Differences' }).getByRole('button', { name: '0:20' }).click();
    await page.getByText('Window 5 of 11, 0:20 to 0:25: score 0.900, AI-generated').waitFor();
    await page.getByText('Window 5 of 11, 0:20 to 0:25: score 0.300, human').waitFor();
    await assertAccessible(page);
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    assert.deepEqual(widths, [360, 360]);
    await keepPicture(page, 'playground-phone', 'dark');
    await page.setViewportSize({ width: 1280, height: 900 });
    await keepPicture(page, 'playground', 'dark');
  });

  await t.test('a large file becomes a job, and its stored copy goes when it is done', async (t) => {
    const page = await openPlayground(t, browser, origin);
    await chooseFile(page, 'meeting.wav', someWav(80));
    await analyse(page);
    await page.locator('.global').waitFor();
    const code = await textOf(page.getByRole('figure', { name: 'The request in curl' }));
    assert.match(code, /--upload-file meeting\.wav/);
    await eventually(async () => {
      const { json } = await server.call('GET', '/v1/file?key_prefix=&entity=playground');
      return json.url.length === 0;
    }, 'the stored copy goes');
  });

  await t.test('a link is analysed, and one that leads nowhere is explained', async (t) => {
    const link = await server.store('stored.wav', someWav(60));
    const page = await openPlayground(t, browser, origin);
    await page.getByLabel('Or a link').fill('http://127.0.0.1:1/nowhere.wav');
    await analyse(page);
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Or a link').fill(link);
    await analyse(page);
    await page.locator('.global').waitFor();
    assert.match(await textOf(page.getByRole('article')), /There is no waveform/);
    await page.getByRole('heading', { name: 'stored.wav' }).waitFor();
  });

  await t.test('what the server refuses is said in its words', async (t) => {
    analyser.answer = () => {
      throw new ServiceError('NO_SPEECH', { silenceThreshold: 80 });
    };
    const page = await openPlayground(t, browser, origin);
    await chooseFile(page, 'silence.wav', someWav(10));
    await analyse(page);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await textOf(alert), /speech/);
    assert.match(await textOf(alert), /Use audio with more speech/);
    assert.doesNotMatch(await textOf(alert), /correlation id/i);
  });

  await t.test('a server that asks for patience is not asked again by itself', async (t) => {
    let asked = 0;
    analyser.answer = () => {
      asked++;
      throw new ServiceError('OVERLOADED', { limit: 'what it can take', retryAfterS: 300 });
    };
    const page = await openPlayground(t, browser, origin);
    await chooseFile(page, 'call.wav', someWav(10));
    await analyse(page);
    await page.getByRole('alert').getByText('retry after 300 s').waitFor();
    assert.equal(asked, 1);
  });

  await t.test(
    'the whole way: sign in, analyse speech with the models of the service, also as a job',
    async (t) => {
      const real = await startDashboardServer(t, {
        config: { modelsDir: shippedModelsDir, maxPredictBytes: 500_000, jobWorkers: 1 },
      });
      const page = await openPage(t, browser, real.origin);
      await real.signIn(page, 'developer', 'playground');
      await chooseFile(page, 'ai.flac', fs.readFileSync(recording), 'audio/flac');
      await analyse(page);
      const article = page.getByRole('article');
      await article.locator('.verdict.spoofed').getByText('AI-generated').waitFor();
      // The browser could decode it and show a waveform, so there is no notice.
      await article.getByText('The waveform is being made').waitFor({ state: 'detached' });
      assert.equal(await article.getByText('There is no waveform').count(), 0);
      assert.match(await textOf(article), /detector-large-/);
      const scoreShown = async (): Promise<number> =>
        Number(/^[\d.]+/.exec(await textOf(article.locator('dt:text-is("Score") + dd')))?.[0]);
      const score = await scoreShown();
      const large = path.join(temporaryFolder(t), 'large.wav');
      await run('ffmpeg', ['-v', 'error', '-i', recording, '-ar', '32000', large]);
      await chooseFile(page, 'large.wav', fs.readFileSync(large));
      await analyse(page);
      await page.getByRole('figure', { name: 'The request in curl' }).getByText('--upload-file').waitFor();
      const jobScore = await scoreShown();
      // A job also names the model by its exact id.
      assert.match(await textOf(article.locator('dt:text-is("Model") + dd')), /detector-large-/);
      assert.ok(Math.abs(score - jobScore) < 0.05, `${score} and ${jobScore}`);
      // Both sides of a call: their mix would hide that one of them is not human.
      const human = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
      const both = path.join(temporaryFolder(t), 'both.flac');
      const mono = 'aresample=16000,aformat=channel_layouts=mono';
      const filter = `[0:a]${mono}[l];[1:a]${mono}[r];[l][r]amerge=inputs=2`;
      await run('ffmpeg', ['-v', 'error', '-i', human, '-i', recording, '-filter_complex', filter, both]);
      await chooseFile(page, 'both.flac', fs.readFileSync(both), 'audio/flac');
      await analyse(page);
      await article
        .getByText('The channels disagree: channel 0 is human; channel 1 is AI-generated.')
        .waitFor();
      for (const lane of ['Mix of 2 channels', 'Channel 0', 'Channel 1']) {
        await article.getByRole('region', { name: lane }).getByRole('slider').waitFor();
      }
      // A verdict that differs from the channels is neither green nor red.
      await article
        .getByRole('region', { name: 'Mix of 2 channels' })
        .locator('.global .verdict.uncertain')
        .waitFor();
      await assertAccessible(page);
      await keepPicture(page, 'playground-channels', 'light');
      const client = await real.client('reader');
      assert.equal((await client.listJobs()).jobs[0]?.state, 'succeeded');
      await eventually(
        async () => (await client.getDownloadLinks('', { entity: 'playground' })).url.length === 0,
        'the stored copy goes',
      );
    },
  );
});
