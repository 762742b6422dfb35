// SPDX-License-Identifier: Apache-2.0
//
// Copies that the playground stores on the server are deleted, however the analysis ends.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { RecordingRequest } from '../../src/analysis/analyser/recording.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { recordingEnd } from '../support/analyser-double.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import type { JobServer } from '../support/job-server.js';
import { openPlayground, signInDouble, someWav, startPlaygroundServer } from '../support/playground.js';

/** Until the job is cancelled. */
async function* endless({ signal }: RecordingRequest): AsyncGenerator<never, void, void> {
  signal.throwIfAborted();
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  throw signal.reason;
}

async function startJob(page: Page): Promise<void> {
  const file = { name: 'call.wav', mimeType: 'audio/wav', buffer: someWav(10) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Analyse' }).click();
}

async function copiesOn(server: JobServer): Promise<readonly unknown[]> {
  const { status, json, text } = await server.call('GET', '/v1/file?key_prefix=&entity=playground');
  assert.equal(status, 200, text);
  return json.url;
}

const statesOn = async (server: JobServer): Promise<readonly string[]> =>
  (await server.call('GET', '/v1/jobs')).json.jobs.map(({ state }: { readonly state: string }) => state);

const isClean = (server: JobServer) =>
  eventually(async () => (await copiesOn(server)).length === 0, 'the copy is deleted');

/** A page whose job runs until it is cancelled. */
async function openRunning(t: TestContext, browser: Browser): Promise<{ server: JobServer; page: Page }> {
  const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
  const begun = new Promise<void>((resolve) => {
    server.analyser.recordingSteps = (request) => {
      resolve();
      return endless(request);
    };
  });
  const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
  await startJob(page);
  await page.getByText('The job is running').waitFor();
  // A job that has not opened its recording yet fails if that is deleted.
  await begun;
  // Requests that Playwright holds for a route are lost with their page.
  await page.unrouteAll();
  assert.equal((await copiesOn(server)).length, 1);
  return { server, page };
}

test('what the playground stores', async (suite) => {
  const browser = await launchBrowser(suite);
  const ways: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
    ['cancelling', (page) => page.getByRole('button', { name: 'Cancel' }).click()],
    // In the same process: for another one, Chromium gives this page half a second, which a busy machine may need for less.
    ['another page', (page) => page.evaluate("location.assign('about:blank')")],
    ['closing the page', (page) => page.close({ runBeforeUnload: true })],
  ];
  for (const [name, leave] of ways) {
    await suite.test(`${name} cancels the job and deletes the copy`, async (t) => {
      const { server, page } = await openRunning(t, browser);
      await leave(page);
      await isClean(server);
      await eventually(async () => (await statesOn(server))[0] === 'cancelled', 'the job is cancelled');
    });
  }

  await suite.test('signing out cancels and deletes while the key still works', async (t) => {
    const { server, page } = await openRunning(t, browser);
    const deleted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'DELETE') deleted.push(new URL(request.url()).pathname);
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await copiesOn(server), []);
    assert.equal(deleted.length, 3);
    assert.equal(deleted.at(-1), '/v1/admin/session');
  });

  await suite.test('signing out does so after a new sign-in on another view', async (t) => {
    const { server, page } = await openRunning(t, browser);
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    await signInDouble(page, 'another token');
    const deleted: string[] = [];
    let asked = 0;
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === 'DELETE') deleted.push(pathname);
      else if (pathname === '/v1/admin/session') asked++;
    });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await eventually(() => asked === 2, 'the page has another session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await isClean(server);
    await eventually(() => deleted.length === 3, 'the session ends');
    assert.equal(deleted.at(-1), '/v1/admin/session');
  });

  await suite.test('a job that fails leaves no copy', async (t) => {
    const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
    // biome-ignore lint/correctness/useYield: it fails before its first step
    server.analyser.recordingSteps = async function* () {
      throw new ServiceError('NO_SPEECH', { silenceThreshold: 80 });
    };
    const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
    await startJob(page);
    await page.getByRole('alert').waitFor();
    assert.deepEqual(await statesOn(server), ['failed']);
    await isClean(server);
  });

  await suite.test('two models share one copy', async (t) => {
    const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
    server.analyser.recordingSteps = async function* ({ model }) {
      yield recordingEnd(model);
    };
    const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
    const uploads: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') uploads.push(request.url());
    });
    await page.getByText('Model, threshold, silence and channels').click();
    await page.getByLabel('Compare with').selectOption('apollo-4-2026-01-16');
    await startJob(page);
    await page.getByRole('article').nth(1).waitFor();
    assert.equal(uploads.length, 1);
    assert.deepEqual(await statesOn(server), ['succeeded', 'succeeded']);
    await isClean(server);
  });

  await suite.test('a cancelled upload leaves nothing', async (t) => {
    const server = await startPlaygroundServer(t, { maxPredictBytes: 10_000 });
    const page = await openPlayground(t, browser, server.origin, { maxFileBytes: 10_000 });
    let hold = (): void => {};
    const isSent = new Promise<void>((resolve) => {
      hold = resolve;
    });
    // It has arrived, but the page does not know yet.
    await page.route('**/veravox/**', async (route) => {
      await route.fetch();
      hold();
    });
    await startJob(page);
    await isSent;
    assert.equal((await copiesOn(server)).length, 1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await isClean(server);
    assert.deepEqual(await statesOn(server), []);
  });
});
