// SPDX-License-Identifier: Apache-2.0
//
// The page around the views, in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startJobServer } from '../support/job-server.js';

test('a stranger is asked to sign in', async (t) => {
  const { origin } = await startJobServer(t);
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, origin);
  await page.goto('/');
  assert.equal(new URL(page.url()).pathname, '/dashboard/');
  await page.getByRole('main').waitFor();
  await assertAccessible(page);
  await keepPicture(page, 'sign-in', 'light');
});
