// SPDX-License-Identifier: Apache-2.0
//
// Reports of `veravox evaluate` in a browser, which sends none of their content.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { someReport } from '../support/some-report.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** A file from the desktop at the mouse. @returns a function that drags it to the middle of a place, and may drop it there */
async function draggedFile(page: Page, file: string) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  // Dropped like this, a file is readable, but not by its entry.
  await page.evaluate(`DataTransferItem.prototype.webkitGetAsEntry = function () {
    const file = this.getAsFile();
    return { isFile: true, fullPath: '/' + file.name, file: (take) => take(file) };
  }`);
  return async (place: Locator, isDropped = false): Promise<void> => {
    await place.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await place.boundingBox()) ?? assert.fail('it is out of sight');
    const at = { x: x + width / 2, y: y + height / 2, data };
    for (const type of ['dragEnter', 'dragOver', ...(isDropped ? (['drop'] as const) : [])] as const)
      await session.send('Input.dispatchDragEvent', { type, ...at });
  };
}

test('a report is shown with its plots, tables and wrong clips', async (t) => {
  const server = await startDashboardServer(t);
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'calls.json');
  const report = someReport(400);
  fs.writeFileSync(file, JSON.stringify(report));
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'viewer', 'reports');
  const input = page.getByLabel('Report', { exact: true });
  const sent: string[] = [];
  await input.waitFor();
  page.on('request', (request) => sent.push(request.url()));

  await t.test('what is no report is refused in words', async () => {
    const other = path.join(folder, 'other.json');
    fs.writeFileSync(other, '{"schema_version": 1}');
    await input.setInputFiles(other);
    await page.getByRole('alert').getByText('has version 1 of its format').waitFor();
    fs.writeFileSync(other, 'path,label');
    await input.setInputFiles(other);
    await page.getByRole('alert').getByText('The file is not JSON.').waitFor();
  });

  await t.test('figures, plots, thresholds, comparison and groups are there', async () => {
    await input.setInputFiles(file);
    await page.getByRole('heading', { name: 'calls.json' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    const eer = report.overall.eer?.value ?? Number.NaN;
    const figures = section(page, 'Figures').getByRole('row', { name: /^equal error rate \d/ });
    assert.match(String(await figures.textContent()), new RegExp(`${(100 * eer).toFixed(1)} %`));
    for (const name of [/^Detection error trade-off\./, /^Scores of the two/, /^Reliability of the/]) {
      await page.getByRole('img', { name }).waitFor();
    }
    const rows = section(page, 'Thresholds').locator('tbody tr');
    assert.equal(await rows.count(), report.thresholds.length);
    await section(page, 'Comparison').getByText('below 0.0001').waitFor();
    await section(page, 'Groups').getByText('<img src=x onerror=alert(1)>\ufffd').first().waitFor();
    await section(page, 'Without a score').getByText('NO_SPEECH').waitFor();
    const texts = await page
      .locator('.figure-plot svg')
      .evaluateAll((drawings) => drawings.map(String).length);
    assert.equal(texts, 3);
    assert.doesNotMatch(await page.locator('main').innerHTML(), /NaN|Infinity/);
  });

  await t.test('wrong clips are played from the files of the reader', async () => {
    const wrong = section(page, 'Most confidently wrong');
    const [worst] = report.most_wrong;
    const clips = path.join(folder, 'calls', 'clips');
    fs.mkdirSync(clips, { recursive: true });
    const recording = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
    fs.copyFileSync(recording, path.join(clips, path.basename(worst?.name ?? '')));
    await wrong.getByLabel('Folder with the recordings').setInputFiles(path.join(folder, 'calls'));
    await wrong.getByText(`1 file chosen: 1 of ${report.most_wrong.length} can be played.`).waitFor();
    await wrong.getByRole('button', { name: `Play ${worst?.name}` }).click();
    const player = wrong.locator('audio');
    await player.waitFor();
    await eventually(() => page.evaluate("document.querySelector('audio').currentTime > 0"), 'it plays');
    await wrong.getByText('Not among the files.').first().waitFor();
    // The same folder again adds nothing.
    await wrong.getByLabel('Folder with the recordings').setInputFiles(path.join(folder, 'calls'));
    await wrong.getByLabel('Or single files').setInputFiles(recording);
    await wrong.getByText(`2 files chosen: 1 of ${report.most_wrong.length} can be played.`).waitFor();
  });

  await t.test('recordings that are dropped on their box leave the report open', async () => {
    const wrong = section(page, 'Most confidently wrong');
    const drag = await draggedFile(page, path.join(packageDir, 'test/fixtures/human-lj-b.flac'));
    const box = wrong.locator('.file-drop');
    const highlighted = page.locator('.file-drop.over');
    const heading = page.getByRole('heading', { name: 'calls.json' });
    await drag(heading);
    await highlighted.waitFor();
    await drag(box);
    await highlighted.waitFor({ state: 'detached' });
    await drag(box, true);
    await wrong.getByText(`3 files chosen: 1 of ${report.most_wrong.length} can be played.`).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    // Elsewhere it is taken for a report.
    await drag(heading, true);
    await page.getByRole('alert').getByText('The file is not JSON.').waitFor();
    await input.setInputFiles(file);
    await heading.waitFor();
  });

  await t.test('a report that is read for longer does not replace a later one', async () => {
    const [slow, quick] = ['slow.json', 'quick.json'].map((name) => path.join(folder, name));
    for (const each of [slow, quick]) fs.copyFileSync(file, String(each));
    await page.evaluate(`{
      const read = File.prototype.text;
      const isReadable = new Promise((resolve) => { globalThis.goOn = resolve; });
      File.prototype.text = function () {
        if (this.name !== 'slow.json') return read.call(this);
        return globalThis.slow = isReadable.then(() => read.call(this));
      };
    }`);
    await input.setInputFiles(String(slow));
    await input.setInputFiles(String(quick));
    await page.getByRole('heading', { name: 'quick.json' }).waitFor();
    const isDrawn = '() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';
    await page.evaluate(`goOn(), slow.then(${isDrawn})`);
    assert.equal(await page.getByRole('heading', { name: 'slow.json' }).count(), 0);
  });

  await t.test('it is accessible in both themes and on narrow screens, and nothing was sent', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.locator(`html[data-theme=${scheme}]`).waitFor();
      await assertAccessible(page);
      await keepPicture(page, 'reports', scheme);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await assertAccessible(page);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    assert.ok(width <= 360, `${width} px`);
    assert.deepEqual(
      sent.filter((url) => !url.startsWith('blob:')),
      [],
    );
  });
});
