// SPDX-License-Identifier: Apache-2.0
//
// Pages' keys: each page has its own, and gets another if it is refused.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';
import { SessionTable } from '../../src/console/users/session-table.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { PASSWORD } from '../support/admin.js';
import { launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';

const recording = path.join(packageDir, 'test/fixtures/ai-kokoro.flac');

/** Requests answered with 401 from now on. */
function refusedIn(page: Page): readonly string[] {
  const refused: string[] = [];
  page.context().on('response', (response) => {
    if (response.status() === 401) refused.push(response.url());
  });
  return refused;
}

async function analyse(page: Page): Promise<void> {
  const answer = page.waitForResponse(
    (response) => response.url().endsWith('/v1/predict') && response.status() === 200,
  );
  await page.locator('input[type=file]').setInputFiles(recording);
  await page.getByRole('button', { name: 'Analyse' }).click();
  await answer;
  await page.getByRole('article').waitFor();
}

test('the key of a page', async (suite) => {
  const browser = await launchBrowser(suite);

  await suite.test('a second tab leaves that of the first alone', async (t) => {
    const server = await startDashboardServer(t);
    const first = await openPage(t, browser, server.origin);
    await server.signIn(first, 'developer', 'playground');
    const refused = refusedIn(first);
    await analyse(first);
    const second = await first.context().newPage();
    await second.goto('/dashboard/#/playground');
    await analyse(second);
    await analyse(first);
    assert.deepEqual(refused, []);
  });

  await suite.test('one that was revoked is replaced, also for an upload', async (t) => {
    const server = await startDashboardServer(t);
    const page = await openPage(t, browser, server.origin);
    await server.signIn(page, 'developer', 'playground');
    await analyse(page);
    const keyTable = new KeyTable(server.database);
    for (const { id } of await keyTable.list()) await keyTable.revoke(id);
    const refused = refusedIn(page);
    // Every process notices within a second.
    while (refused.length === 0) await analyse(page);
    assert.match(String(refused[0]), /predict$/);
    assert.equal((await keyTable.list()).length, 2);
  });

  await suite.test('a session that has ended leads from an upload to the sign-in', async (t) => {
    const server = await startDashboardServer(t);
    const page = await openPage(t, browser, server.origin);
    await server.signIn(page, 'developer', 'playground');
    await analyse(page);
    const user = await new UserTable(server.database).named('developer');
    assert.ok(user);
    const endSession = () => new SessionTable(server.database).endAllOf(user.id);
    await endSession();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.getByLabel('Name').fill('developer');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    // The page is as before: the result is still there.
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { name: 'ai-kokoro.flac' }).waitFor();
    await page.getByText('Chosen: ai-kokoro.flac').waitFor();
    await endSession();
    await page.locator('input[type=file]').setInputFiles(recording);
    await page.getByRole('button', { name: 'Analyse' }).click();
    await page.getByText('Your session has ended.').waitFor();
  });
});
