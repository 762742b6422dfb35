// SPDX-License-Identifier: Apache-2.0
//
// Voice identity in a browser, against the shipped models.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { editManifest } from '../support/imported-models.js';
import { ffmpegInto } from '../support/recordings.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const fixture = (name: string): string => path.join(packageDir, 'test/fixtures', name);
const hostile = '<img src=x onerror=alert(1)>\u202e';
const harmless = '<img src=x onerror=alert(1)>\ufffd';

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function enrol(page: Page, name: string, files: readonly string[]): Promise<void> {
  const form = section(page, 'Enrol a voice');
  await form.getByLabel('Name of the voice').fill(name);
  await form.getByLabel('Recordings').setInputFiles(files.map(fixture));
  await form.getByRole('button', { name: 'Make the voiceprint' }).click();
}

/** The shipped models, but voice identity refuses no AI-generated voice: the page's text on such a voice is tested here. */
function lenientModels(folder: string): string {
  const modelsDir = path.join(folder, 'models');
  fs.cpSync(shippedModelsDir, modelsDir, { recursive: true });
  editManifest(modelsDir, (models) => {
    for (const model of models) if (model.task === 'detection') model.operating_point = 1;
  });
  return modelsDir;
}

test('voices are enrolled, kept in the browser, verified and identified', async (t) => {
  const folder = temporaryFolder(t);
  const server = await startDashboardServer(t, { config: { modelsDir: lenientModels(folder) } });
  const microphone = ffmpegInto(folder)(fixture('human-vctk-p225-c.opus'), ['-ar', '48000', 'voice.wav']);
  const browser = await launchBrowser(t, { microphone });
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'developer', 'voices');
  const form = section(page, 'Enrol a voice');
  const kept = section(page, 'Saved voiceprints');
  const compare = section(page, 'Compare a sample');

  await t.test('an enrolment says what each sample is worth', async () => {
    await enrol(page, 'Anna', ['human-vctk-p225-a.opus', 'human-vctk-p225-b.opus', 'human-lj-a.flac']);
    await form.getByRole('heading', { name: 'Anna is saved in this browser' }).waitFor();
    await form.getByText('It uses 2 of 3 samples').waitFor();
    const rows = form.getByRole('table').locator('tbody tr');
    await rows.nth(2).getByText('sounds like a different speaker').waitFor();
    await rows
      .nth(0)
      .getByText(/s of speech in 9\.4 s/)
      .waitFor();
    await kept.getByRole('rowheader', { name: 'Anna' }).waitFor();
  });

  await t.test('a refused enrolment says why, and keeps nothing', async () => {
    await enrol(page, 'Nobody', ['human-vctk-p237.flac']);
    await form
      .getByRole('alert')
      .getByText(/at least 10 s with 3 s of speech are required/)
      .waitFor();
    assert.equal(await kept.getByRole('rowheader', { name: 'Nobody' }).count(), 0);
    await form.getByRole('button', { name: 'Remove human-vctk-p237.flac' }).click();
  });

  await t.test('a recording that ends by itself leaves samples alone that were added meanwhile', async () => {
    await page.evaluate(`{
      const devices = navigator.mediaDevices;
      const real = devices.getUserMedia.bind(devices);
      devices.getUserMedia = async (constraints) => {
        const stream = await real(constraints);
        globalThis.unplug = () => stream.getAudioTracks()[0].dispatchEvent(new Event('ended'));
        return stream;
      };
    }`);
    await form.getByRole('button', { name: 'Record a sample' }).click();
    await form.getByRole('timer').waitFor();
    await form.getByLabel('Recordings').setInputFiles(fixture('human-lj-a.flac'));
    await form.getByRole('listitem').waitFor();
    await page.evaluate('unplug()');
    await form.getByRole('listitem').nth(1).waitFor();
    for (const name of [/^Remove human-lj-a.flac/, /^Remove recorded/])
      await form.getByRole('button', { name }).click();
  });

  await t.test('a sample from the microphone is verified', async () => {
    await compare.getByLabel('Compare with').selectOption({ label: 'Anna' });
    await compare.getByRole('button', { name: 'Record one' }).click();
    await compare
      .getByRole('timer')
      .getByText(/^0:0[3-9]$|^0:[1-9]/)
      .waitFor();
    await compare.getByRole('button', { name: 'Stop recording' }).click();
    await compare.getByRole('listitem').waitFor();
    await compare.getByRole('button', { name: 'Compare' }).click();
    // It also asks whether a human speaks: only then may a match be green.
    const whose = section(page, 'Whose voice');
    await whose.getByText('This sounds like Anna').waitFor();
    await compare.getByText('Cosine').waitFor();
    const [match, authentic] = await Promise.all(
      [whose, section(page, 'Human or AI-generated')].map((part) =>
        part.locator('.verdict').getAttribute('class'),
      ),
    );
    assert.equal(match, authentic);
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await page.getByRole('link', { name: 'Voices' }).click();
    await whose.getByText('This sounds like Anna').waitFor();
  });

  await t.test('a clone that matches is no good news', async () => {
    // An enrolment outlives its view, and the next view shows it.
    let letIn = (): void => {};
    const isBack = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    await page.route('**/voiceid/enroll-samples', async (route) => {
      await isBack;
      await route.continue();
    });
    await enrol(page, 'Linda', ['human-lj-a.flac', 'human-lj-b.flac']);
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await page.getByRole('link', { name: 'Voices' }).click();
    await form.getByText('Sending and comparing the samples').waitFor();
    assert.equal(await form.getByRole('button', { name: 'Make the voiceprint' }).isDisabled(), true);
    letIn();
    await form.getByRole('heading', { name: 'Linda is saved in this browser' }).waitFor();
    await kept.getByRole('rowheader', { name: 'Linda' }).waitFor();
    await compare.getByLabel('Compare with').selectOption({ label: 'Linda' });
    await compare.getByLabel('Recording').setInputFiles(fixture('ai-wavenet-lj.flac'));
    const predicted = page.waitForResponse('**/v1/predict');
    await compare.getByRole('button', { name: 'Compare' }).click();
    assert.ok('stretches' in (await (await predicted).json()), 'it does not judge by windows alone');
    await compare.getByRole('heading', { name: 'ai-wavenet-lj.flac' }).waitFor();
    const whose = section(page, 'Whose voice');
    await whose.getByText('This sounds like Linda, but it is probably AI-generated').waitFor();
    assert.equal(await compare.locator('.verdict.bonafide').count(), 0);
    await section(page, 'Human or AI-generated').locator('.verdict.spoofed').waitFor();
    await keepPicture(page, 'voices-clone', 'light');
  });

  await t.test('windows that differ by chance do not spoil a match', async () => {
    const segments = [0.02, 0.6, 0.02].map((score, i) => ({
      ...{ start: 5 * i, end: 5 * i + 5, scores: [score], confidence: 0.2 },
      result: score >= 0.5 ? 'spoofed' : 'bonafide',
    }));
    const global = { score: 0.21, confidence: 0.5, result: 'bonafide', reason: null };
    const json = { global, segments, stretches: [], warnings: [], model: 'm' };
    await page.route('**/v1/predict', (route) => route.fulfill({ json }));
    await compare.getByLabel('Compare with').selectOption({ label: 'Anna' });
    await compare.getByLabel('Recording').setInputFiles(fixture('human-vctk-p225-c.opus'));
    await compare.getByRole('button', { name: 'Compare' }).click();
    await compare.getByRole('heading', { name: 'human-vctk-p225-c.opus' }).waitFor();
    await section(page, 'Human or AI-generated').locator('.verdict.bonafide').waitFor();
    await page.unroute('**/v1/predict');
  });

  await t.test('a sample is looked for among the kept voiceprints, whatever their names', async () => {
    await enrol(page, hostile, ['human-vctk-p226-a.opus', 'human-vctk-p226-b.opus']);
    await kept.getByText(harmless).waitFor();
    await compare.getByLabel('Compare with').selectOption({ index: 0 });
    await compare.getByLabel('Recording').setInputFiles(fixture('human-vctk-p225-c.opus'));
    await compare.getByRole('button', { name: 'Compare' }).click();
    const best = compare.getByRole('table').locator('tbody tr').first();
    await best.getByText('Anna').waitFor();
    assert.equal(await compare.getByRole('table').locator('tbody tr').count(), 3);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.locator(`html[data-theme=${scheme}]`).waitFor();
      await assertAccessible(page);
      await keepPicture(page, 'voices', scheme);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await assertAccessible(page);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    assert.ok(width <= 360, `${width} px`);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  await t.test('they outlive the page, are edited, exported, deleted and imported', async () => {
    await page.reload();
    const rows = kept.getByRole('table').locator('tbody tr');
    await kept.getByRole('button', { name: 'Edit Anna' }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('by telephone');
    await page.getByRole('button', { name: 'Save' }).click();
    await kept.getByText('by telephone').waitFor();
    const downloaded = page.waitForEvent('download');
    await kept.getByRole('button', { name: 'Export all' }).click();
    const file = path.join(folder, 'voiceprints.json');
    await (await downloaded).saveAs(file);
    const { voiceprints } = JSON.parse(fs.readFileSync(file, 'utf8'));
    assert.deepEqual(
      voiceprints.map(({ name }: { name: string }) => name).sort(),
      [hostile, 'Anna', 'Linda'].sort(),
    );
    assert.equal(voiceprints[0].embedding.length, 256);
    await kept.getByRole('button', { name: 'Delete Anna' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await kept.getByRole('rowheader', { name: 'Anna' }).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 2);
    await kept.getByLabel('Import from a file').setInputFiles(file);
    await kept.getByText('Imported 1. 2 were here already.').waitFor();
    await kept.getByText('by telephone').waitFor();
    await kept.getByLabel('Import from a file').setInputFiles(fixture('SOURCES.md'));
    await kept.getByRole('alert').getByText('The file is not JSON.').waitFor();
    assert.equal(await rows.count(), 3);
  });
});
