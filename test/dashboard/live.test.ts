// SPDX-License-Identifier: Apache-2.0
//
// The microphone in a browser, through the stream of a real server.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { addUser, PASSWORD } from '../support/admin.js';
import { breakingProxy } from '../support/breaking-proxy.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { ffmpegInto } from '../support/recordings.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const speech = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const verdicts = /^(?:AI-generated|Human|Mixed|Uncertain|With caution)$/;

/** The browser refuses the microphone twice. */
const refusing = `{
  const devices = navigator.mediaDevices;
  const real = devices.getUserMedia.bind(devices);
  const refusals = ['NotAllowedError', 'NotFoundError'];
  devices.getUserMedia = async (constraints) => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw new DOMException('', refusal);
    const stream = await real(constraints);
    globalThis.isOn = () => stream.getAudioTracks()[0].readyState === 'live';
    globalThis.unplug = () => stream.getAudioTracks()[0].dispatchEvent(new Event('ended'));
    return stream;
  };
}`;

const start = (page: Page) => page.getByRole('button', { name: 'Start listening' });

test('a voice at the microphone is judged while it speaks', async (t) => {
  const server = await startDashboardServer(t, { config: { modelsDir: shippedModelsDir } });
  const proxy = await breakingProxy(t, Number(new URL(server.origin).port));
  const origin = `http://127.0.0.1:${proxy.port}`;
  const microphone = ffmpegInto(temporaryFolder(t))(speech, ['-ar', '48000', 'voice.wav']);
  const browser = await launchBrowser(t, { microphone });
  const name = 'anna';
  await addUser(server.database, 'developer', name);
  const signIn = async (page: Page): Promise<void> => {
    const answer = await page.request.post(`${origin}/v1/admin/session`, {
      data: { name, password: PASSWORD },
      maxRetries: 3,
    });
    assert.ok(answer.ok());
  };

  await t.test('verdicts come, a lost connection is resumed, and the end has a verdict on all', async (t) => {
    const page = await openPage(t, browser, origin);
    await signIn(page);
    await page.goto('/dashboard/#/live');
    await page.getByText('Model, threshold and silence').click();
    await page.getByLabel('Most silence in a window').fill('100');
    await page.getByLabel('Model').selectOption('detector-small-2026-11-25');
    await start(page).click();
    await page.getByText('Listening.').waitFor();
    await page.getByRole('meter').waitFor();
    const windows = page.getByRole('table').locator('tbody tr');
    await windows.first().waitFor();
    let letIn = (): void => {};
    const isSeen = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    await page.route('**/v1/stream/tickets', async (route) => {
      await isSeen;
      await route.continue();
    });
    proxy.breakAll();
    await page.getByText('The connection is lost').waitFor();
    letIn();
    await page.getByText('The connection was lost once and resumed.').waitFor();
    await windows.nth(1).waitFor();
    await assertAccessible(page);
    await keepPicture(page, 'live', 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme=dark]').waitFor();
    await assertAccessible(page);
    await keepPicture(page, 'live', 'dark');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: 'Verdict', exact: true }).waitFor();
    await page.getByText('The microphone is off.', { exact: true }).waitFor();
    const verdict = page.getByRole('region', { name: 'Verdict', exact: true });
    assert.match(String(await verdict.locator('.verdict').textContent()), verdicts);
    assert.ok((await windows.count()) >= 2);
    await page.getByRole('region', { name: 'Last seconds' }).waitFor();
    assert.match(String(await verdict.textContent()), /detector-small-2026-11-25/);
    await start(page).waitFor();
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await page.getByRole('link', { name: 'Live' }).click();
    await verdict.locator('.verdict').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await assertAccessible(page);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    assert.ok(width <= 360, `${width} px`);
  });

  await t.test(
    'a refused or lost microphone is explained, and the view can be left while it listens',
    async (t) => {
      const page = await openPage(t, browser, origin);
      await signIn(page);
      await page.addInitScript(refusing);
      await page.goto('/dashboard/#/live');
      await start(page).click();
      await page.getByRole('alert').getByText('does not let this page use the microphone').waitFor();
      await start(page).click();
      await page.getByRole('alert').getByText('There is no microphone').waitFor();
      await page.evaluate(`{
        const real = AudioContext;
        globalThis.AudioContext = function () {
          globalThis.AudioContext = real;
          throw new DOMException('', 'NotSupportedError');
        };
      }`);
      await start(page).click();
      await page.getByRole('alert').getByText('The microphone cannot be opened.').waitFor();
      assert.equal(await page.evaluate('isOn()'), false);
      await start(page).click();
      await page.getByText('Listening.').waitFor();
      await page.evaluate('unplug()');
      await page.getByText('The microphone was disconnected.').waitFor();
      await start(page).click();
      await page.getByText('Listening.').waitFor();
      // Acts like the end of the hour.
      const keys = new KeyTable(server.database);
      for (const { id } of await keys.list()) await keys.revoke(id);
      await page.getByRole('alert').getByText('Live audio ends after an hour').waitFor();
      const opened = page.waitForEvent('websocket');
      await start(page).click();
      const stream = await opened;
      await page.getByText('Listening.').waitFor();
      const closed = stream.waitForEvent('close');
      await page.getByRole('link', { name: 'Reports' }).click();
      await closed;
      await page.getByRole('heading', { name: 'Reports' }).waitFor();
    },
  );
});

test('a window that looks AI-generated raises an alarm, until the reader has seen it', async (t) => {
  const server = await startDashboardServer(t, { config: { modelsDir: shippedModelsDir } });
  const clone = path.join(packageDir, 'test/fixtures/ai-wavenet-lj.flac');
  const microphone = ffmpegInto(temporaryFolder(t))(clone, ['-ar', '48000', 'clone.wav']);
  const browser = await launchBrowser(t, { microphone });
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'developer', 'live');
  await start(page).click();
  const alarm = page.getByRole('alert', { name: 'Alarm' });
  await alarm.getByText('This sounds AI-generated').waitFor();
  await eventually(async () => (await page.title()).startsWith('⚠ AI-generated voice'), 'the title warns');
  await assertAccessible(page);
  await keepPicture(page, 'live-alarm', 'light');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The microphone is off.', { exact: true }).waitFor();
  await alarm.getByRole('button', { name: 'I have seen it' }).click();
  await alarm.waitFor({ state: 'detached' });
  await eventually(async () => (await page.title()).startsWith('Live'), 'the title is as before');
});
