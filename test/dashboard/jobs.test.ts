// SPDX-License-Identifier: Apache-2.0
//
// Jobs in a browser: while they run, when they fail, and the fate of their webhooks.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { VeravoxClient } from '../../client/src/index.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { parseAllowedHost } from '../../src/base/config/allowed-host.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { WebhookSecrets } from '../../src/jobs/queue/webhook-secrets.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { type DashboardServer, startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { startFakeStorage } from '../support/fake-storage.js';
import { assertNoSidewaysScrolling } from '../support/page-facts.js';

const recording = fs.readFileSync(path.join(packageDir, 'test/fixtures/ai-kokoro.flac'));

/** Recordings of jobs stop half-way until the test releases them. */
function holding(real: FullAnalyser, gate: Promise<void>): FullAnalyser {
  const analyseRecording: FullAnalyser['analyseRecording'] = async function* (request) {
    request.onProgress?.({ decodedS: 2, fileProgress: 0.5 });
    await Promise.race([gate, new Promise((resolve) => request.signal.addEventListener('abort', resolve))]);
    yield* real.analyseRecording(request);
  };
  return new Proxy(real, {
    get(target, name) {
      if (name === 'analyseRecording') return analyseRecording;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function start(t: TestContext) {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The client's own server permanently refuses the first webhook.
  const statuses: number[] = [];
  const hooks = await startFakeStorage(t, (request: http.IncomingMessage, response) => {
    const status = statuses.length === 0 ? 410 : 204;
    statuses.push(status);
    request.resume().on('end', () => response.writeHead(status).end());
  });
  const host = `http://hooks.example.com:${hooks.port}`;
  const server = await startDashboardServer(t, {
    config: {
      webhookHosts: [parseAllowedHost(host) ?? assert.fail(host)],
    },
    around: (real) => holding(real, gate),
    fetchSurroundings: {
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      isPublicAddress: () => true,
    },
  });
  await new WebhookSecrets(server.database).create('acme', 60_000);
  return { server, client: await server.client('batch jobs'), release, statuses, callback: `${host}/end` };
}

async function store(client: VeravoxClient, key: string, file: Uint8Array): Promise<void> {
  const { url } = await client.createUploadLinks([key]);
  const [link] = url;
  assert.ok(link);
  await client.upload(link, file);
}

async function opened(
  t: TestContext,
  browser: Browser,
  server: DashboardServer,
  view: string,
): Promise<Page> {
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'developer', view);
  return page;
}

test('jobs in the dashboard', async (suite) => {
  const browser = await launchBrowser(suite);

  await suite.test(
    'a job is followed while it runs; another one is cancelled, a failed one retried, its webhook sent again',
    async (t) => {
      const { server, client, release, statuses, callback } = await start(t);
      await store(client, 'talk.flac', recording);
      const running = await client.createJob({ key: 'talk.flac' }, { callback_url: callback });
      const page = await opened(t, browser, server, 'jobs');

      // Live: progress and later jobs appear without a reload.
      const rowOf = (id: string) =>
        page.getByRole('row').filter({ has: page.getByRole('link', { name: id }) });
      await rowOf(running.id).getByText('50 % of the file read').waitFor();
      assert.equal(await rowOf(running.id).getByRole('progressbar').getAttribute('value'), '0.5');
      const doomed = await client.createJob({ key: 'talk.flac' });
      const cancel = rowOf(doomed.id).getByRole('button', { name: 'Cancel' });
      await cancel.waitFor();
      await keepPicture(page, 'jobs', 'light');
      await cancel.click();
      await assertAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
      await rowOf(doomed.id).getByText('cancelled').waitFor();
      await page.getByLabel('State').selectOption('running');
      await rowOf(doomed.id).waitFor({ state: 'detached' });

      // An answer to another question must not stand under a filter that was refused.
      await page.route('**/v1/admin/jobs/events*', (route) => route.fulfill({ status: 400, json: {} }));
      await page.getByLabel('State').selectOption('succeeded');
      await page.getByRole('alert').waitFor();
      await rowOf(running.id).waitFor({ state: 'detached' });
      await page.unroute('**/v1/admin/jobs/events*');
      await page.getByLabel('State').selectOption('running');

      // The page of the job continues by itself to its result.
      await rowOf(running.id).getByRole('link').click();
      await page.getByText('50 % of the file read').waitFor();
      assert.equal(await page.title(), `Job ${running.id} · veravox`);
      assert.equal(await page.evaluate('document.activeElement.id'), 'job');
      release();
      const result = page.getByRole('region', { name: 'Verdict' });
      await result.locator('.verdict').first().waitFor();
      await result.getByRole('figure', { name: 'Verdicts over time' }).waitFor();
      const webhook = page.getByRole('region', { name: 'Webhook' });
      await webhook.getByText('failed').waitFor();
      await webhook.getByRole('cell', { name: /410/ }).waitFor();
      await webhook.getByRole('button', { name: 'Send again' }).click();
      await webhook.getByText('delivered').waitFor();
      assert.deepEqual(statuses, [410, 204]);
      await assertAccessible(page);
      await keepPicture(page, 'job', 'light');

      // A job with a broken file is retried after the file is repaired.
      await store(client, 'broken.flac', Buffer.from('no recording'));
      const failing = await client.createJob({ key: 'broken.flac' });
      await page.getByRole('link', { name: 'All jobs' }).click();
      const failed = rowOf(failing.id);
      assert.equal(await page.title(), 'Jobs · veravox');
      await failed.getByText('failed').waitFor();
      await store(client, 'broken.flac', recording);
      await failed.getByRole('button', { name: 'Retry' }).click();
      await failed.getByText('succeeded').waitFor();

      const dark = await openPage(t, browser, server.origin, { theme: 'dark', width: 360 });
      await server.signIn(dark, 'viewer', 'jobs');
      await dark.getByRole('table').waitFor();
      assert.equal(await dark.getByRole('button', { name: /Cancel|Retry/ }).count(), 0);
      await assertAccessible(dark);
      await keepPicture(dark, 'jobs', 'dark');
      await dark.getByRole('link', { name: running.id }).click();
      await dark.getByRole('region', { name: 'Webhook' }).getByText('delivered').waitFor();
      await assertAccessible(dark);
      await keepPicture(dark, 'job', 'dark');
      await assertNoSidewaysScrolling(dark);
    },
  );

  await suite.test(
    'older jobs are on further pages, and a job that is not there is said to be missing',
    async (t) => {
      const { server, client, release } = await start(t);
      release();
      await store(client, 'talk.flac', recording);
      const ids: string[] = [];
      for (let i = 0; i < 27; i++) ids.push((await client.createJob({ key: 'talk.flac' })).id);
      for (const id of ids)
        await eventually(async () => (await client.getJob(id)).state === 'succeeded', `job ${id} ends`);
      const page = await opened(t, browser, server, 'jobs?state=succeeded');
      const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
      await rows.nth(24).waitFor();
      assert.equal(await rows.count(), 25);
      await page.getByRole('button', { name: 'Older' }).click();
      await page.getByRole('link', { name: ids[0] ?? '' }).waitFor();
      assert.equal(await rows.count(), 2);
      await page.getByRole('button', { name: 'Newer' }).click();
      await page.getByRole('link', { name: ids[26] ?? '' }).waitFor();
      await page.goto(`${server.origin}/dashboard/#/jobs/00000000-0000-0000-0000-000000000000`);
      await page.getByRole('alert').getByText('no such job').waitFor();
    },
  );
});
