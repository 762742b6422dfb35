// SPDX-License-Identifier: Apache-2.0
//
// A job and a result of the playground survive events around them.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { recordingEnd } from '../support/analyser-double.js';
import { assertAccessible, keepPicture, launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { openPlayground, someWav, startPlaygroundServer } from '../support/playground.js';

const call = { name: 'call.wav', mimeType: 'audio/wav', buffer: someWav(10) };

const mp3 = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');

async function analyse(page: Page, file = call): Promise<void> {
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Analyse' }).click();
}

/**
 * Drops a file on an element, as if it came from the desktop. @returns whether the page kept the file from the
 * browser
 */
const dropOn = (page: Page, selector: string, name: string): Promise<unknown> =>
  page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(8)], ${JSON.stringify(name)}));
    const event = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
    const element = document.querySelector(${JSON.stringify(selector)});
    element.dispatchEvent(event('dragover'));
    !element.dispatchEvent(event('drop'));
  }`);

test('what lies on the playground stays', async (suite) => {
  const browser = await launchBrowser(suite);

  await suite.test('a result is there after a look at another view, and after a reload', async (t) => {
    const server = await startPlaygroundServer(t);
    const page = await openPlayground(t, browser, server.origin);
    await page.getByText('Model, threshold, silence and channels').click();
    await page.getByLabel('Threshold').fill('0.4');
    await analyse(page);
    const heading = page.getByRole('heading', { name: 'call.wav' });
    await heading.waitFor();
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    await heading.waitFor();
    await page.getByText('Chosen: call.wav').waitFor();
    await page.getByText('Model, threshold, silence and channels').click();
    assert.equal(await page.getByLabel('Threshold (0 to 1)').inputValue(), '0.4');
    // The result says what it is about, whatever is chosen next.
    await page.locator('input[type=file]').setInputFiles({ ...call, name: 'other.wav' });
    await page.getByText('The result below is about call.wav').waitFor();
    await page.reload();
    await heading.waitFor();
    await page.getByText('the page was reloaded').waitFor();
    assert.equal(server.analyser.requests.length, 1);
  });

  await suite.test('the verdict of the first model stays if the second one fails or is let go', async (t) => {
    const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
    const second = 'apollo-4-2026-01-16';
    let fails = true;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.analyser.recordingSteps = async function* ({ model }) {
      if (model === second && fails) throw new ServiceError('NO_SPEECH', { silenceThreshold: 80 });
      if (model === second) await gate;
      yield recordingEnd(model);
    };
    const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
    await page.getByText('Model, threshold, silence and channels').click();
    await page.getByLabel('Compare with').selectOption(second);
    await analyse(page);
    await page.getByText('The second model gave no verdict').waitFor();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByRole('article').count(), 1);

    fails = false;
    await analyse(page, { ...call, name: 'long.wav' });
    await page.getByRole('region', { name: 'Analysis' }).getByText(second).waitFor();
    await page.getByRole('button', { name: 'Go on in the background' }).click();
    await page.getByText('long.wav goes on in the background').waitFor();
    await page.getByRole('heading', { name: 'long.wav' }).waitFor();
    assert.equal(await page.getByRole('article').count(), 1);
    await page.reload();
    await page.getByRole('heading', { name: 'long.wav' }).waitFor();
    release();
  });

  await suite.test('an MP3 file is drawn, slice by slice', async (t) => {
    const server = await startPlaygroundServer(t);
    const page = await openPlayground(t, browser, server.origin);
    await page.locator('input[type=file]').setInputFiles(mp3);
    await page.getByRole('button', { name: 'Analyse' }).click();
    await page.getByRole('article').waitFor();
    // The row of the waveform is not blank.
    const colours = `{
      const canvas = document.querySelector('.timeline canvas');
      new Set(canvas?.getContext('2d').getImageData(80, 10, 200, 1).data).size;
    }`;
    await eventually(async () => Number(await page.evaluate(colours)) > 2, 'a waveform is drawn');
    assert.equal(await page.getByText('There is no waveform').count(), 0);
  });

  await suite.test('a dropped file is taken wherever it falls, and by no other view', async (t) => {
    const server = await startPlaygroundServer(t);
    const page = await openPlayground(t, browser, server.origin);
    assert.equal(await dropOn(page, 'header', 'beside.wav'), true);
    await page.getByText('Chosen: beside.wav').waitFor();
    assert.equal(await dropOn(page, '.file-drop', 'inside.wav'), true);
    await page.getByText('Chosen: inside.wav').waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    assert.equal(await dropOn(page, 'body', 'lost.wav'), true, 'the browser would leave the page');
  });

  await suite.test('a job goes on in another view, without its server and in the background', async (t) => {
    const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
    let release = (): void => {};
    const gates: Promise<void>[] = [];
    server.analyser.recordingSteps = async function* ({ model, signal, onProgress }) {
      onProgress?.({ decodedS: 5, fileProgress: 0.5 });
      await Promise.race([
        gates.shift(),
        new Promise((resolve) => signal.addEventListener('abort', resolve)),
      ]);
      signal.throwIfAborted();
      yield recordingEnd(model);
    };
    const closed = (): Promise<void> =>
      new Promise((resolve) => {
        release = resolve;
      });
    gates.push(closed());
    const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
    await analyse(page);
    await page.getByText('The job is running').waitFor();
    await page.getByText('0:00 of 0:10 of audio analysed').waitFor();
    assert.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Analysis', 'it is shown');
    await assertAccessible(page);
    await keepPicture(page, 'playground-running', 'light');
    // The next analysis may have other settings.
    const bar = page.locator('progress[value="0.25"]');
    await bar.waitFor();
    await page.getByText('Model, threshold, silence and channels').click();
    await page.getByLabel('Channels').selectOption('mixed');
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    assert.equal(await bar.count(), 1);
    await page.getByLabel('Channels').selectOption('separate');
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByText('The job is running').waitFor();

    release();
    await page.getByRole('article').waitFor();

    // For longer than the page retries silently.
    await page.route('**/v1/jobs/*/events', (route) => route.abort());
    gates.push(closed());
    await analyse(page, { ...call, name: 'alone.wav' });
    await page.getByText('The server cannot be reached. The job goes on').waitFor();
    release();
    await eventually(
      async () => (await server.call('GET', '/v1/jobs')).json.jobs[0].state === 'succeeded',
      'the job ends while nobody looks',
    );
    await page.unroute('**/v1/jobs/*/events');
    await page.getByRole('heading', { name: 'alone.wav' }).waitFor();
    await page.getByRole('article').waitFor();

    gates.push(closed());
    await analyse(page, { ...call, name: 'long.wav' });
    await page.getByRole('button', { name: 'Go on in the background' }).click();
    await page.getByText('long.wav goes on in the background').waitFor();
    await page.goto('about:blank');
    release();
    await eventually(
      async () => (await server.call('GET', '/v1/jobs')).json.jobs[0].state === 'succeeded',
      'the job outlives the page',
    );
  });
});
